import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { expectTypeOf } from 'expect-type'
import { sql, type Transaction } from 'kysely'
import { type CallContext, createIdempotency, isOncelyError } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { type NotesDatabase, notesHost, nothing, one, scope } from '../support/notes-host.ts'

type Tx = Transaction<NotesDatabase>

const host = notesHost(testDatabase())
const db = host.connect({ application_name: 'host' })
const idempotency = createIdempotency(db)

const insert = (tx: Tx, key: string, body: string) =>
  tx.insertInto('notes').values({ key, body }).execute()

function isClosed(failure: unknown): void {
  strictEqual(isOncelyError(failure) && failure.code, 'transaction_closed', String(failure))
}

describe('statements that the function left behind', () => {
  it('are waited for and committed with the rest', async () => {
    let call: Promise<unknown> | undefined
    let settled = false
    await host
      .connect()
      .transaction()
      .execute(async (tx) => {
        await sql`lock table notes in share mode`.execute(tx)
        call = beside(
          idempotency.withIdempotency(scope, 'behind', one, (tx) => {
            for (const body of ['a', 'b', 'c']) void insert(tx, 'behind', body)
            return 'done'
          }),
        )
        void call.finally(() => (settled = true))
        await host.untilWaiting('host')
        strictEqual(settled, false)
      })
    deepStrictEqual(await call, { ok: true, kind: 'executed', value: 'done' })
    deepStrictEqual((await host.left('behind')).notes, ['a', 'b', 'c'])
  })

  it('are waited for where one follows the other, so that not half of them is committed', async () => {
    const result = await idempotency.withIdempotency(scope, 'chain', one, (tx) => {
      void (async () => {
        for (const body of ['a', 'b', 'c', 'd']) await insert(tx, 'chain', body)
      })()
      return 'done'
    })
    strictEqual(result.kind, 'executed')
    deepStrictEqual((await host.left('chain')).notes, ['a', 'b', 'c', 'd'])
  })

  it('are waited for and undone when the function throws', async () => {
    const failure = new Error('no')
    let left: Promise<unknown> | undefined
    const thrown = await failureOf(
      idempotency.withIdempotency(scope, 'behind a throw', one, (tx) => {
        left = Promise.all(['a', 'b', 'c'].map((body) => insert(tx, 'behind a throw', body)))
        throw failure
      }),
    )
    strictEqual(thrown, failure)
    await left
    deepStrictEqual(await host.left('behind a throw'), nothing)
  })
})

describe('once the function has settled', () => {
  it('its transaction is closed, before the COMMIT', async () => {
    let kept: Tx | undefined
    const uses: Promise<unknown>[] = []
    // Kysely calls its logger behind each statement, and one of them stores the response.
    const watched = host.connect({
      log: ({ query }) => {
        if (!kept || !/"idem"\."(records|outbox)"/.test(query.sql)) return
        uses.push(failureOf(insert(kept, 'closed', 'late')))
        uses.push(failureOf(sql`select 1`.execute(kept)))
        uses.push(failureOf(kept.selectFrom('notes').selectAll().stream().next()))
      },
    })
    await createIdempotency(watched).withIdempotency(scope, 'closed', one, (tx) => {
      kept = tx.withoutPlugins()
    })
    strictEqual(uses.length, 3)
    for (const failure of await Promise.all(uses)) isClosed(failure)
    deepStrictEqual(await host.left('closed'), { ...nothing, records: ['completed'] })
  })

  for (const ends of ['returns', 'rejects', 'throws']) {
    it(`nothing comes of its transaction and its context: it ${ends}`, async () => {
      const key = `late ${ends}`
      let kept: { tx: Tx; context: CallContext } | undefined
      await idempotency
        .withIdempotency(scope, key, one, (tx, context) => {
          kept = { tx, context }
          if (ends === 'throws') throw new Error('no')
          return ends === 'rejects' ? context.reject('no') : 'yes'
        })
        .catch(() => undefined)
      if (!kept) throw new Error('the function did not run')
      const { tx, context } = kept
      isClosed(await failureOf(insert(tx, key, 'late')))
      isClosed(await failureOf(tx.introspection.getTables()))
      isClosed(await failureOf(tx.selectFrom('notes').selectAll().stream().next()))
      const event = { type: 'x', aggregateType: 'note', aggregateId: key, payload: 1 }
      for (const use of [
        () => {
          context.emit(event)
        },
        () => context.reject('late'),
        () => {
          context.resource({ type: 'note', id: 'late' })
        },
      ]) {
        isClosed(await failureOf(Promise.resolve().then(use)))
      }
      const { notes, events } = await host.left(key)
      deepStrictEqual([notes, events], [[], []])
    })
  }
})

describe('the transaction lent to the function', () => {
  it('knows the tables of the host alone', async () => {
    await idempotency.withIdempotency(scope, 'tables', one, async (tx) => {
      expectTypeOf(tx).toEqualTypeOf<Tx>()
      deepStrictEqual(await tx.selectFrom('notes').selectAll().where('key', '=', 'x').execute(), [])
      await sql`savepoint mine`.execute(tx)
      // @ts-expect-error: our tables are none of the host's
      const failure = await failureOf(tx.selectFrom('records').selectAll().execute())
      strictEqual((failure as { code: string }).code, '42P01')
      await sql`rollback to savepoint mine`.execute(tx)
    })
  })
})
