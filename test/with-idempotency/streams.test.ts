import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'
import Cursor from 'pg-cursor'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const dialect = new PostgresDialect({ pool: database.pool({ max: 1 }), cursor: Cursor })
const db = new Kysely<NotesDatabase>({ dialect })
const idempotency = createIdempotency(db)

/** Two hundred rows, fetched one by one. */
const numbers = (tx: Kysely<NotesDatabase>) =>
  tx
    .selectFrom(sql<{ n: number }>`generate_series(1, 200)`.as<'n'>(sql`s(n)`))
    .selectAll()
    .stream(1)

function isClosed(failure: unknown): void {
  strictEqual(isOncelyError(failure) && failure.code, 'transaction_closed', String(failure))
}

describe('a stream of the function', () => {
  it('can be read to its end', async () => {
    const result = await idempotency.withIdempotency(scope, 'read', one, async (tx) => {
      let rows = 0
      for await (const _ of numbers(tx)) rows += 1
      return rows
    })
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 200 })
  })

  it('that failed and was swallowed fails the call with that error', async () => {
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'failed', one, async (tx, context) => {
        await writeNote(tx, context)
        const rows = tx
          .selectFrom('notes')
          .select(sql`1 / 0`.as('n'))
          .stream(10)
        await rows.next().catch(() => undefined)
        return 'ok'
      }),
    )
    strictEqual((failure as { code: string }).code, '22012')
    deepStrictEqual(await host.left('failed'), nothing)
  })

  it('left open is ended, does not hold up the call, and cannot be read on', async () => {
    const left: AsyncIterator<unknown>[] = []
    const result = await idempotency.withIdempotency(scope, 'left', one, async (tx, context) => {
      await writeNote(tx, context)
      const rows = numbers(tx)
      await rows.next()
      left.push(rows)
      return 'ok'
    })
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'ok' })
    deepStrictEqual(await host.left('left'), written)
    for (const rows of left) isClosed(await failureOf(rows.next()))
  })

  it('left open does not hide what the function throws', async () => {
    const own = new Error('own')
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'thrown', one, async (tx, context) => {
        await writeNote(tx, context)
        await numbers(tx).next()
        throw own
      }),
    )
    strictEqual(failure, own)
    deepStrictEqual(await host.left('thrown'), nothing)
  })

  it('left open lets a statement that waits behind it through, and it is committed', async () => {
    const behind: Promise<unknown>[] = []
    await idempotency.withIdempotency(scope, 'behind', one, async (tx, { key }) => {
      await numbers(tx).next()
      behind.push(tx.insertInto('notes').values({ key, body: 'note' }).execute())
    })
    await Promise.all(behind)
    deepStrictEqual((await host.left('behind')).notes, ['note'])
  })

  it('that waits behind one left open never starts, which fails the call', async () => {
    const second: Promise<unknown>[] = []
    const call = idempotency.withIdempotency(scope, 'second', one, async (tx) => {
      await numbers(tx).next()
      second.push(failureOf(numbers(tx).next()))
    })
    isClosed(await failureOf(call))
    isClosed(await second[0])
  })

  it('left open on a connection that is lost does not hold up the call', async () => {
    const own = new Error('own')
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'lost', one, async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
        await numbers(tx).next()
        await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.watcher)
        throw own
      }),
    )
    strictEqual(failure, own)
    strictEqual((await idempotency.withIdempotency(scope, 'lost', one, () => 1)).kind, 'executed')
  })
})
