import { readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'

import { type Kysely, sql } from 'kysely'

import type { Tables } from './business.ts'

/** What the figures are of: one name and what it is, in the order in which it is printed. */
export type Machine = Readonly<Record<string, string>>

const settings = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_wal_size',
  'checkpoint_timeout',
  'autovacuum',
]

/** Asks the server itself for its settings, as they might not be what was asked for. */
export async function describeMachine(db: Kysely<Tables>): Promise<Machine> {
  const { rows } = await sql<{ name: string; value: string }>`
    select name, current_setting(name) as value from pg_settings
    where name = any (${settings})`.execute(db)
  const valueOf = (name: string) => rows.find((row) => row.name === name)?.value ?? 'unknown'
  const processors = cpus()
  return {
    CPU: processors[0]?.model ?? 'unknown',
    cores: String(processors.length),
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    'operating system': `${type()} ${release()}`,
    Node: process.version,
    kysely: versionOf('kysely'),
    pg: versionOf('pg'),
    PostgreSQL: valueOf('server_version'),
    ...Object.fromEntries(settings.slice(1).map((name) => [name, valueOf(name)])),
    'sizes and memory': 'nothing waits for the disk; sizes on another server, without autovacuum',
    clients: 'on the same machine, in one process; the delaying proxy is another',
  }
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
