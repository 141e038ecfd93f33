// The instance option `replay` over HTTP: whoever comes again gets what it makes.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type RecordView } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { post, type Seen, send, write } from './conformance/check.ts'
import type { Adapter, Handler } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()

const tokened: Handler = async ({ call }) => {
  await write(call)
  call.context.resource({ type: 'token', id: call.context.key })
  if (call.context.key.startsWith('refused')) {
    return call.context.reject({ status: 402, body: 'no credit' })
  }
  return { status: 201, headers: [['location', '/things/7']], body: 's3cr3t' }
}

const start = (adapter: Adapter, replay: (record: RecordView) => unknown) => {
  const idempotency = createIdempotency(host.connect())
  const made = idempotency.withOptions({ replay: (_tx, record) => replay(record) })
  return serve(adapter, { idempotency: made, handler: tokened })
}

const seenOf = ({ status, text, headers }: Seen) => [
  status,
  text,
  headers.get('location'),
  headers.get('idempotent-replayed'),
]

/** Everything of a record as text, also what is stored as octets. */
async function storedUnder(key: string): Promise<string> {
  const records = database.watcher.selectFrom('records').selectAll()
  const rows = await records.where('key', '=', key).execute()
  const octets = rows.map(({ response }) => Buffer.from(response ?? '').toString())
  return JSON.stringify([rows, octets])
}

for (const adapter of adapters) {
  describe(`replay, on ${adapter.name}`, () => {
    it('A30: a token that is shown once is not stored; who comes again is told of it alone', async () => {
      const key = `token ${adapter.name}`
      const server = await start(adapter, ({ resource }) =>
        Response.json({ of: resource?.id }, { status: 200, headers: { location: '/tokens/1' } }),
      )
      deepStrictEqual(seenOf(await post(server, key)), [201, 's3cr3t', '/things/7', null])
      strictEqual(/s3cr3t/.test(await storedUnder(key)), false)
      const again = [200, JSON.stringify({ of: key }), '/tokens/1', 'true']
      const look = { method: 'GET', path: '/lookup', key: `"${key}"`, type: '' }
      for (const seen of [await post(server, key), await send(server, look)]) {
        deepStrictEqual(seenOf(seen), again)
        strictEqual(seen.headers.get('idempotency-key-retention'), '86400')
      }
      strictEqual((await host.left(key)).notes.length, 1)
    })

    it('makes JSON of what is no Response, and 204 of nothing', async () => {
      const key = `made ${adapter.name}`
      const first = await start(adapter, () => ({ id: 7 }))
      await post(first, key)
      deepStrictEqual(seenOf(await post(first, key)), [200, '{"id":7}', null, 'true'])
      const second = await start(adapter, () => undefined)
      deepStrictEqual(seenOf(await post(second, key)), [204, '', null, 'true'])
    })

    it('is not asked of a refusal: that one is stored as it was sent', async () => {
      const key = `refused ${adapter.name}`
      const server = await start(adapter, () => {
        throw new Error('asked')
      })
      deepStrictEqual(seenOf(await post(server, key)), [402, 'no credit', null, null])
      deepStrictEqual(seenOf(await post(server, key)), [402, 'no credit', null, 'true'])
    })

    it('that throws is a 500, and nothing runs again', async () => {
      const key = `throws ${adapter.name}`
      const server = await start(adapter, () => {
        throw new Error('own')
      })
      strictEqual((await post(server, key)).status, 201)
      const { status, text } = await post(server, key)
      deepStrictEqual([status, /own/.test(text)], [500, false])
      strictEqual((await host.left(key)).notes.length, 1)
    })
  })
}
