import { deepStrictEqual, ok, rejects, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'

import { type CallContext, createIdempotency, type EmittedEvent, isOncelyError } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { failureOf } from '../support/calls.ts'
import { nothing, notesHost, one, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())

const event: EmittedEvent = { type: 't', aggregateType: 'a', aggregateId: '1', payload: 1 }

describe('an invalid event', () => {
  const names = [undefined, null, '', 1, 'a'.repeat(201), '\u{1F600}'.repeat(201), 'a\0b', '\ud800']
  const sequences = [-1, -1n, 1.5, NaN, Infinity, 2 ** 53, 2n ** 63n, '1', null, true, []]
  const headers = [null, 1, true, ['a'], [], { a: 1 }, { a: null }, { a: { b: 'c' } }, { a: true }]

  const invalid: [event: unknown, code: string, path?: string][] = [
    ...[undefined, null, 'order.placed', 1].map(
      (whole) => [whole, 'invalid_event'] as [unknown, string],
    ),
    ...['type', 'aggregateType', 'aggregateId'].flatMap((name) =>
      names.map((text) => [{ ...event, [name]: text }, 'invalid_event'] as [unknown, string]),
    ),
    ...sequences.map((sequence) => [{ ...event, sequence }, 'invalid_event'] as [unknown, string]),
    ...headers.map((given) => [{ ...event, headers: given }, 'invalid_event'] as [unknown, string]),
    [{ ...event, payload: undefined }, 'not_json', '$'],
    [{ ...event, payload: { items: [{ price: NaN }] } }, 'not_json', '$.items[0].price'],
    [{ ...event, payload: [1n] }, 'not_json', '$[0]'],
    [{ ...event, payload: { rows: new Map() } }, 'not_json', '$.rows'],
    [{ ...event, payload: [undefined] }, 'not_json', '$[0]'],
  ]

  it('is refused by emit at once, by its code and path', async () => {
    await idempotency.withIdempotency(scope, 'at once', one, (_, context) => {
      for (const [given, code, path] of invalid) {
        throws(
          () => {
            context.emit(given as EmittedEvent)
          },
          (error) => {
            ok(isOncelyError(error))
            deepStrictEqual({ code: error.code, path: error.path }, { code, path }, inspect(given))
            return true
          },
        )
      }
    })
  })

  it('fails the whole call, of which nothing is kept', async () => {
    for (const [given, code] of invalid) {
      const call = idempotency.withIdempotency(scope, 'failed', one, async (tx, context) => {
        await writeNote(tx, context)
        context.emit(given as EmittedEvent)
      })
      await rejects(call, { name: 'OncelyError', code })
    }
    deepStrictEqual(await host.left('failed'), nothing)
    const again = await idempotency.withIdempotency(scope, 'failed', one, writeNote)
    strictEqual(again.kind, 'executed')
    deepStrictEqual(await host.left('failed'), written)
  })

  it('leaves no trace when the business function catches the error', async () => {
    const result = await idempotency.withIdempotency(scope, 'caught', one, async (tx, context) => {
      throws(() => {
        context.emit({ ...event, aggregateId: context.key, sequence: -1 })
      })
      await writeNote(tx, context)
      throws(() => {
        context.emit({ ...event, aggregateId: context.key, payload: NaN })
      })
    })
    strictEqual(result.kind, 'executed')
    deepStrictEqual(await host.left('caught'), written)
  })
})

describe('no event is committed', () => {
  it('by a call that is rejected', async () => {
    const refuse = () =>
      idempotency.withIdempotency(scope, 'rejected', one, async (tx, context) => {
        await writeNote(tx, context)
        const rejection = context.reject('no')
        context.emit({ ...event, aggregateId: context.key })
        return rejection
      })
    strictEqual((await refuse()).kind, 'rejected')
    deepStrictEqual(await host.left('rejected'), { ...nothing, records: ['rejected'] })
    strictEqual((await refuse()).kind, 'rejected')
    deepStrictEqual(await host.left('rejected'), { ...nothing, records: ['rejected'] })
  })

  it('by a call that throws', async () => {
    const error = new Error('no')
    const call = idempotency.withIdempotency(scope, 'thrown', one, async (tx, context) => {
      await writeNote(tx, context)
      throw error
    })
    strictEqual(await failureOf(call), error)
    deepStrictEqual(await host.left('thrown'), nothing)
  })

  it('by a call whose statement failed and was ignored', async () => {
    const call = idempotency.withIdempotency(scope, 'ignored', one, async (tx, context) => {
      await writeNote(tx, context)
      await writeNote(tx, context).catch(() => undefined)
    })
    await rejects(call, { code: '23505' })
    deepStrictEqual(await host.left('ignored'), nothing)
  })

  it('by a context that is used after its function settled: transaction_closed', async () => {
    const left: CallContext[] = []
    const closed = { name: 'OncelyError', code: 'transaction_closed' }
    const late = ({ emit, reject, resource }: CallContext) => {
      throws(() => {
        emit({ ...event, aggregateId: 'late' })
      }, closed)
      throws(() => {
        resource({ type: 'note', id: 'late' })
      }, closed)
      throws(() => reject('late'), closed)
    }
    await idempotency.withIdempotency(scope, 'returned', one, (_, context) => {
      left.push(context)
    })
    const call = idempotency.withIdempotency(scope, 'threw', one, (_, context) => {
      left.push(context)
      throw new Error('no')
    })
    await rejects(call)
    strictEqual(left.length, 2)
    left.forEach(late)
    deepStrictEqual((await host.left('late')).events, [])
  })
})
