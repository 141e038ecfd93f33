import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Codec, createIdempotency, type HttpHead } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost, nothing, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

const headers = [
  ['link', '<a>'],
  ['link', '<b>, "c"'],
] as const

/** Writes a value as an HTTP response would be, and says what it reads. */
const codec = (status = 201): Codec<'nothing'> => ({
  keeps: 'nothing',
  encode: (value) => ({ bytes: Buffer.from(String(value)), status, headers }),
  decode: (bytes, head) => ({ text: Buffer.from(bytes).toString(), head }),
})

const head: HttpHead = { status: 201, headers: headers.map((line) => [...line]) }

describe('an HTTP response', () => {
  const idempotency = createIdempotency(host.connect()).withOptions({ codec: codec() })

  it('has its status and its headers in columns of their own, with and without events', async () => {
    for (const events of [0, 1, 2]) {
      const key = `head ${events}`
      const call = () =>
        idempotency.withIdempotency(scope, key, one, async (tx, context) => {
          await tx.insertInto('notes').values({ key, body: 'note' }).execute()
          for (let at = 0; at < events; at += 1) {
            const event = { type: 'made', aggregateType: 'note', aggregateId: key, payload: at }
            context.emit(event)
          }
          return 'é'
        })
      const value = { text: 'é', head }
      const first = await call()
      strictEqual(first.kind, 'executed')
      deepStrictEqual(first.value, { text: 'é', head: { status: 201, headers } })
      deepStrictEqual(await call(), { ok: true, kind: 'replayed', value })
      const [record] = await database.watcher
        .selectFrom('records')
        .select(['response_status', 'response_headers'])
        .where('key', '=', key)
        .execute()
      deepStrictEqual(record, { response_status: 201, response_headers: head.headers })
      strictEqual((await host.left(key)).events.length, events)
    }
  })

  it('of a refusal, likewise', async () => {
    const refusing = createIdempotency(host.connect()).withOptions({ codec: codec(402) })
    const call = () =>
      refusing.withIdempotency(scope, 'refused', one, (_, { reject }) => reject('no'))
    for (const replayed of [false, true]) {
      const result = await call()
      strictEqual(result.kind === 'rejected' && result.replayed, replayed)
      const refusal =
        result.kind === 'rejected' ? (result.refusal as { head: HttpHead }) : undefined
      strictEqual(refusal?.head.status, 402)
    }
  })

  it('is gone with the response, once it is past its window', async () => {
    await idempotency.withIdempotency(scope, 'gone', one, () => 'x')
    strictEqual(await idempotency.expire(scope, 'gone'), true)
    strictEqual((await idempotency.withIdempotency(scope, 'gone', one, () => 'x')).kind, 'expired')
  })

  it('counts with its headers, and has a status of HTTP, or nothing is committed', async () => {
    const small = createIdempotency(host.connect()).withOptions({
      codec: codec(),
      maxResponseBytes: 10,
    })
    await rejects(small.withIdempotency(scope, 'large', one, writeNote), {
      code: 'response_too_large',
    })
    const odd = createIdempotency(host.connect()).withOptions({ codec: codec(99) })
    await rejects(odd.withIdempotency(scope, 'large', one, writeNote), { code: 'invalid_options' })
    deepStrictEqual(await host.left('large'), nothing)
  })
})
