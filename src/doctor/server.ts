import { type Kysely, sql } from 'kysely'

import { enter } from '../postgres/enter.ts'
import { quoted } from '../migrate/statements.ts'
import { OLDEST_VERSION } from '../postgres/server.ts'
import type { PoolLike } from './diagnose.ts'
import type { Finding } from './finding.ts'

/** The settings as a session of this role has them; times in milliseconds. */
interface Server {
  readonly server_version: string
  readonly version: number
  readonly role: string
  readonly database: string
  readonly in_recovery: boolean
  readonly read_only: boolean
  readonly isolation: string
  readonly fsync: string
  readonly synchronous_commit: string
  readonly timeouts: Readonly<Record<string, number>>
}

export async function readServer<DB>(db: Kysely<DB>): Promise<Server> {
  // The schema does not matter: nothing of it is read.
  const own = enter(db, 'public')
  const { rows } = await own.run(
    sql<Server>`select
      current_setting('server_version') as server_version,
      current_setting('server_version_num')::int as version,
      current_user as role,
      current_database() as database,
      pg_is_in_recovery() as in_recovery,
      current_setting('default_transaction_read_only')::bool as read_only,
      current_setting('default_transaction_isolation') as isolation,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      (select json_object_agg(name, setting::float8) from pg_settings where unit = 'ms' and name in (
        'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'
      )) as timeouts`.compile(own.tables),
  )
  return rows[0] as Server
}

/** node-postgres gives an idle connection up after this long, unless told otherwise. */
const POOL_IDLE_MS = 10_000
/** Between two statements of a business function a runtime may well be busy with others. */
const SHORTEST_SILENCE_MS = 1_000

/** At or below which a bound hurts, in milliseconds; `lockTimeoutMs` unless said. */
const WAITS = 'a twin that waits as long as lockTimeoutMs fails instead of being told in_progress'
const limits: Readonly<Record<string, { readonly limit?: number; readonly why: string }>> = {
  statement_timeout: { why: WAITS },
  transaction_timeout: { why: WAITS },
  idle_in_transaction_session_timeout: {
    limit: SHORTEST_SILENCE_MS,
    why: 'a business function that waits for anything but SQL loses its transaction',
  },
  idle_session_timeout: {
    limit: POOL_IDLE_MS,
    why: 'node-postgres keeps a connection idle for 10 seconds, and it is cut before',
  },
}

export function serverFindings(
  server: Server,
  lockTimeoutMs: number,
  pool: PoolLike['options'] = {},
): readonly Finding[] {
  if (server.version < OLDEST_VERSION * 10_000) {
    return [
      {
        code: 'server_too_old',
        problem: `the server is PostgreSQL ${server.server_version}`,
        mend: `upgrade it to PostgreSQL ${OLDEST_VERSION} or newer`,
      },
    ]
  }
  const findings: Finding[] = []
  const { role, database, isolation } = server
  // Nothing but the pool's own setting is stronger than one for a role in a database.
  const set = (name: string, value: string) =>
    `alter role ${quoted(role)} in database ${quoted(database)} set ${name} to ${value};`
  if (server.in_recovery) {
    findings.push({
      code: 'read_only',
      problem: 'the server is a standby, which takes no writes',
      mend: 'connect to the primary',
    })
  }
  if (server.read_only) {
    findings.push({
      code: 'read_only',
      problem: 'default_transaction_read_only is on: what the host writes beside oncely is refused',
      mend: 'turn it off for this role, unless that is meant',
      sql: `begin read write; ${set('default_transaction_read_only', 'off')} commit;`,
    })
  }
  if (isolation !== 'read committed') {
    findings.push({
      code: 'isolation_default',
      problem: `default_transaction_isolation is ${isolation}: oncely opens its own transactions in read committed, and cannot join one of the host's`,
      mend: 'make read committed the default of this role, or set it where a transaction to be joined is opened',
      sql: set('default_transaction_isolation', "'read committed'"),
    })
  }
  const short = (name: string, value: number, limit: number, why: string, sql?: string) => {
    if (value === 0 || value > limit) return
    const mend = `more than ${limit} ms, or 0 for none, where it is set: role, database or connection`
    findings.push({
      code: 'timeout_short',
      problem: `${name} is ${value} ms: ${why}`,
      mend,
      ...(sql !== undefined && { sql }),
    })
  }
  for (const [name, { limit = lockTimeoutMs, why }] of Object.entries(limits)) {
    short(name, server.timeouts[name] ?? 0, limit, why, set(name, `'${4 * limit}ms'`))
  }
  short('query_timeout of the pool', pool.query_timeout ?? 0, lockTimeoutMs, WAITS)
  return findings
}

export function serverNotes(server: Server, pipeline: boolean | undefined): readonly string[] {
  const { server_version, role, database, synchronous_commit, fsync } = server
  return [
    `PostgreSQL ${server_version}, database ${database}, role ${role}`,
    ...(pipeline === undefined
      ? []
      : [`pipelining: ${pipeline ? 'on' : 'off; with oncelyDialect a call does not need it'}`]),
    ...(synchronous_commit === 'off' || fsync === 'off'
      ? [
          `synchronous_commit is ${synchronous_commit} and fsync is ${fsync}: a crash of the server can undo what was committed, record and business write together`,
        ]
      : []),
  ]
}
