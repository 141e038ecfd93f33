// Who calls is whom a credential stands for, and not the credential.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'
import { idempotent } from 'oncely/node'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { listening } from './conformance/adapters/parts.ts'
import { post, type Seen, send, write } from './conformance/check.ts'
import type { Server } from './conformance/server.ts'
import { servers } from './servers.ts'

const host = notesHost(testDatabase())
const idempotency = createIdempotency(host.connect())
const serve = servers()

/** A server whose callers are known by the tokens that are valid now. */
function start(tokens: ReadonlyMap<string, string>): Promise<Server> {
  const once = idempotent(idempotency, {
    operation: 'things.make',
    onError: () => undefined,
    // As one looks them up elsewhere.
    async principal({ headers }: IncomingMessage) {
      const actor = await Promise.resolve(tokens.get(String(headers.authorization)))
      if (actor === undefined) throw new Error('nobody')
      return { tenant: 't1', actor }
    },
  })
  const things = once(async (request: IncomingMessage, response: ServerResponse) => {
    await write(once.of(request))
    response.statusCode = 201
    response.end(`made for ${once.of(request).context.scope.actor}`)
  })
  const server = createServer((request, response) => {
    void (request.url === '/lookup' ? once.lookup(request, response) : things(request, response))
  })
  return serve(listening(server.listen(0, '127.0.0.1')))
}

const endOf = ({ status, text, headers }: Seen) => [
  status,
  text,
  headers.get('idempotent-replayed'),
]

describe('a credential that is rotated between two attempts', () => {
  it('A20: the retry with the new one is the same request, and a look finds it', async () => {
    const tokens = new Map([['Bearer old', 'u1']])
    const server = await start(tokens)
    const by = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    const key = 'rotated'
    deepStrictEqual(endOf(await post(server, key, {}, by('old'))), [201, 'made for u1', null])
    tokens.delete('Bearer old')
    tokens.set('Bearer new', 'u1')
    const look = { method: 'GET', path: '/lookup', key: `"${key}"`, type: '' }
    for (const seen of [
      await post(server, key, {}, by('new')),
      await send(server, { ...look, ...by('new') }),
    ]) {
      deepStrictEqual(endOf(seen), [201, 'made for u1', 'true'])
    }
    strictEqual((await host.left(key)).notes.length, 1)
  })

  it('A20: one that is given to somebody else sees nothing of it; one that is void is nobody', async () => {
    const tokens = new Map([['Bearer one', 'u1']])
    const server = await start(tokens)
    const one = { headers: { authorization: 'Bearer one' } }
    const key = 'passed on'
    deepStrictEqual(endOf(await post(server, key, {}, one)), [201, 'made for u1', null])
    tokens.clear()
    strictEqual((await post(server, key, {}, one)).status, 500)
    strictEqual((await host.left(key)).notes.length, 1)
    tokens.set('Bearer one', 'u2')
    deepStrictEqual(endOf(await post(server, key, {}, one)), [201, 'made for u2', null])
    strictEqual((await host.left(key)).notes.length, 2)
  })
})
