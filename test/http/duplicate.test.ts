// `businessIdentity` over HTTP: the object is there under another key.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type Resolution } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost, nothing } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { post, problemOf, type Seen } from './conformance/check.ts'
import type { Adapter, Answer, Handler } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()

/** A thing can be there once, whatever the key; the column `key` of its table is its number. */
const handler: Handler = async ({ call, content }) => {
  const { sku } = JSON.parse(await content()) as { sku: string }
  await call.tx.insertInto('notes').values({ key: sku, body: 'thing' }).execute()
  return { status: 201, body: 'made' }
}

const conflictingAnswer: Answer = { status: 409, body: 'there is one' }

/** What a handler answers that knows of the violation. */
const knowing: Handler = async (handling) =>
  handler(handling).catch(() => Promise.resolve(conflictingAnswer))

for (const adapter of adapters) {
  const start = (of: Adapter, resolve: () => Resolution<unknown> | undefined, given = handler) => {
    const businessIdentity = { constraint: 'notes_pkey', resolve }
    const idempotency = createIdempotency(host.connect()).withOptions({ businessIdentity })
    return serve(of, { idempotency, handler: given })
  }
  const isReplayed = ({ headers }: Seen) => headers.get('idempotent-replayed')

  describe(`a thing that is there under another key, on ${adapter.name}`, () => {
    for (const disposition of ['conflict', 'manual'] as const) {
      it(`${disposition}: 409, the new key is not used, and nothing of it is left`, async () => {
        const sku = `${disposition} ${adapter.name}`
        const server = await start(adapter, () => ({ disposition }))
        strictEqual((await post(server, `first ${sku}`, { sku })).status, 201)
        for (const key of [`second ${sku}`, `second ${sku}`]) {
          const seen = await post(server, key, { sku })
          const { code, title, detail } = problemOf(seen)
          deepStrictEqual([seen.status, code], [409, 'duplicate'])
          strictEqual(title, 'The same was done for another Idempotency-Key')
          strictEqual(/look/.test(String(detail)), disposition === 'manual')
          // Unlike a request that is outstanding it does not help to come again.
          deepStrictEqual([seen.headers.get('retry-after'), isReplayed(seen)], [null, null])
          deepStrictEqual(await host.left(key), nothing)
        }
        const free = await post(server, `second ${sku}`, { sku: `another ${sku}` })
        deepStrictEqual([free.status, isReplayed(free)], [201, null])
        strictEqual(isReplayed(await post(server, `first ${sku}`, { sku })), 'true')
      })
    }

    it('replay: a Response as the resolver makes it, marked; anything else as JSON', async () => {
      const sku = `replay ${adapter.name}`
      const made: Record<string, unknown> = {
        response: new Response('it', { status: 200, headers: { location: '/things/1' } }),
        json: { id: 1 },
        nothing: undefined,
      }
      let name = ''
      const server = await start(adapter, () => ({ disposition: 'replay', value: made[name] }))
      await post(server, `first ${sku}`, { sku })
      const seen: unknown[] = []
      for (name of Object.keys(made)) {
        const answer = await post(server, `${name} ${sku}`, { sku })
        strictEqual(isReplayed(answer), 'true')
        seen.push([answer.status, answer.text, answer.headers.get('location')])
        deepStrictEqual(await host.left(`${name} ${sku}`), nothing)
      }
      deepStrictEqual(seen, [
        [200, 'it', '/things/1'],
        [200, '{"id":1}', null],
        [204, '', null],
      ])
    })

    it('is told of by us also where the handler makes an answer of the violation', async () => {
      const sku = `knowing ${adapter.name}`
      const server = await start(adapter, () => ({ disposition: 'conflict' }), knowing)
      strictEqual((await post(server, `first ${sku}`, { sku })).status, 201)
      const seen = await post(server, `second ${sku}`, { sku })
      deepStrictEqual([seen.status, problemOf(seen)['code']], [409, 'duplicate'])
    })

    it('and gone again: the answer of the handler, or of its framework', async () => {
      const sku = `gone ${adapter.name}`
      const [throwing, answering] = [
        await start(adapter, () => undefined),
        await start(adapter, () => undefined, knowing),
      ]
      await post(throwing, `first ${sku}`, { sku })
      strictEqual((await post(throwing, `second ${sku}`, { sku })).status, 500)
      const seen = await post(answering, `second ${sku}`, { sku })
      deepStrictEqual([seen.status, problemOf(seen)['code']], [409, undefined])
      strictEqual(seen.text, 'there is one')
    })
  })
}
