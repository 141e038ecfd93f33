import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint } from 'oncely'
import { idempotent } from 'oncely/http'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())
const given = { operation: 'fetch', principal: () => ({ tenant: 't1', actor: 'u1' }) }

const post = (key: string | undefined, body = 'x', method = 'POST') =>
  new Request('http://a/', { method, body, headers: key ? { 'idempotency-key': key } : {} })

describe('a handler of the fetch standard', () => {
  it('is called with what else its server gives, such as an environment', async () => {
    const once = idempotent(idempotency, given)
    const handler = once(
      (_request, env: { name: string }, n: number) => new Response(`${env.name}${n}`),
    )
    strictEqual(await (await handler(post('rest'), { name: 'a' }, 1)).text(), 'a1')
    const untouched = await handler(post(undefined, 'x', 'PUT'), { name: 'b' }, 2)
    strictEqual(await untouched.text(), 'b2')
  })

  it('finds its call by the request that it is given, and by the one around it', async () => {
    const once = idempotent(idempotency, given)
    const keys: (string | undefined)[] = []
    const outer = post('outer')
    await once((request) => {
      for (const one of [outer, request]) keys.push(once.find(one)?.context.key)
      return new Response()
    })(outer)
    deepStrictEqual([...keys, once.find(outer)], ['outer', 'outer', undefined])
  })

  it('has no call for a request without a key, where none is required', async () => {
    const once = idempotent(idempotency, { ...given, required: false })
    const handler = once((request) => Response.json(once.find(request)?.context.key ?? 'none'))
    strictEqual(await (await handler(post(undefined))).text(), '"none"')
    strictEqual(await (await handler(post('there'))).text(), '"there"')
  })

  it('leaves a request that is not its to its handler, and copies nothing of it', async () => {
    let asked = 0
    const once = idempotent(idempotency, {
      ...given,
      fingerprint: async (request) => {
        asked += 1
        return fingerprint(await request.text(), { version: 1 })
      },
    })
    const handler = once(async (request) => new Response(await request.text()))
    const put = notCopied(post('put', 'content', 'PUT'))
    strictEqual(await (await handler(put)).text(), 'content')
    strictEqual(asked, 0)
    const byContent = idempotent(
      idempotency,
      given,
    )(async (request) => {
      return new Response(await request.text())
    })
    strictEqual(await (await byContent(notCopied(post('once')))).text(), 'x')
    strictEqual(await (await handler(post('read', 'content'))).text(), 'content')
    strictEqual((await handler(post('read', 'content'))).headers.get('idempotent-replayed'), 'true')
  })
})

function notCopied(request: Request): Request {
  return Object.assign(request, {
    clone() {
      throw new Error('copied')
    },
  })
}
