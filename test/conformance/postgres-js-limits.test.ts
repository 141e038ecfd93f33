// What postgres.js 3.4.9 does not keep: whoever reserves a connection, as its dialect does, cannot
// learn that it is lost.
import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { type Kysely, sql, type Transaction } from 'kysely'
import { createIdempotency } from 'oncely'
import { oncelyDialect } from 'oncely/pg'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { type Gate, gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { fromSources } from '../support/sources.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { postgresJsHost } from './postgres-js-host.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

/** One call in a process of its own, which may end it. */
async function callElsewhere(key: string, name: string) {
  const caller = join(import.meta.dirname, 'postgres-js-caller.ts')
  const args = [...fromSources, caller, proxy.url(), key, name]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => (texts[stream] += text))
  }
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, ...texts }
}

const wraps = { plain: undefined, oncelyDialect }

const pidOf = async (db: Kysely<NotesDatabase>) => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid
}

describe('the dialect of postgres.js', () => {
  it("does not see that a COMMIT of the host's own was answered by ROLLBACK, which a call has no need of", async (t) => {
    const { db, pool } = postgresJsHost(database.url)
    t.after(() => pool.end())
    const key = 'aborted'
    const swallow = async (tx: Transaction<NotesDatabase>) => {
      await tx.insertInto('notes').values({ key, body: 'note' }).execute()
      await failureOf(sql`select 1 / 0`.execute(tx))
      return 'as if committed'
    }
    strictEqual(await db.transaction().execute(swallow), 'as if committed')
    const call = createIdempotency(db).withIdempotency(scope, key, one, swallow)
    strictEqual(((await failureOf(call)) as { code?: unknown }).code, '22012')
    deepStrictEqual(await host.left(key), nothing)
  })
})

for (const name of ['plain', 'oncelyDialect'] as const) {
  describe(`a connection of postgres.js that is lost, ${name}`, () => {
    for (const [fate, left, kind] of [
      ['lost behind', written, 'replayed'],
      ['lost before', nothing, 'executed'],
    ] as const) {
      it(`at COMMIT, ${fate}: ends the process, and the same key ends in the truth`, async () => {
        const key = `${fate} ${name}`
        proxy.meddle(fate)
        const { status, stdout, stderr } = await callElsewhere(key, name)
        notStrictEqual(status, 0)
        strictEqual(stdout, '')
        match(stderr, /TypeError: .*null.*\n.*nextWrite/)
        deepStrictEqual(await host.left(key), left)
        const again = createIdempotency(host.connect())
        strictEqual((await again.withIdempotency(scope, key, one, writeNote)).kind, kind)
        deepStrictEqual(await host.left(key), written)
      })
    }

    it('while a function waits: is handed to the next call, whose transaction they then share', async (t) => {
      const { db, pool, closed } = postgresJsHost(database.url, {}, { max: 1, wrap: wraps[name] })
      t.after(() => pool.end())
      const idempotency = createIdempotency(db)
      using first = gate()
      using second = gate()
      const pids: unknown[] = []
      const call = (key: string, hold: Gate) =>
        beside(
          idempotency.withIdempotency(scope, `${key} ${name}`, one, async (tx, context) => {
            pids.push(await pidOf(tx))
            await hold.pass()
            pids.push(await pidOf(tx))
            await writeNote(tx, context)
          }),
        )
      const loser = call('loser', first)
      await stopsAt(first, loser)
      const killed = sql`select pg_terminate_backend(${pids[0]}, ${PATIENCE_MS})`
      await killed.execute(database.watcher)
      await closed
      const next = call('next', second)
      await stopsAt(second, next)
      first.open()
      const codeOf = async (failing: Promise<unknown>) =>
        ((await failureOf(failing)) as { code?: unknown }).code
      strictEqual(await codeOf(loser), 'claim_lost')
      second.open()
      strictEqual(await codeOf(next), 'claim_lost')
      notStrictEqual(pids[0], pids[1])
      deepStrictEqual(pids.slice(1), [pids[1], pids[1], pids[1]])
      // Neither has a record. What the second wrote behind the rollback of the first has stayed.
      deepStrictEqual(await host.left(`loser ${name}`), nothing)
      deepStrictEqual(await host.left(`next ${name}`), { ...nothing, notes: ['note'] })
    })
  })
}
