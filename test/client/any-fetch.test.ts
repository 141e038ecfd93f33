import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotentFetch, type ResponseLike } from 'oncely/client'
import { fetch as undiciFetch } from 'undici'

import { answering, cut, scriptedServer } from './scripted-server.ts'
import { notedJournal, post, quick, says, scriptedFetch, url } from './scripted-fetch.ts'

const server = scriptedServer()

/** A Response as other implementations have it, with nothing but what is needed. */
const like = (more: Partial<ResponseLike> = {}): ResponseLike => ({
  status: 201,
  headers: new Headers({ 'idempotent-replayed': 'true' }),
  arrayBuffer: () => Promise.resolve(new TextEncoder().encode('made').buffer),
  ...more,
})

describe('a fetch of another implementation', () => {
  it('may give anything that has a status, headers and a content', async () => {
    const { fetch } = scriptedFetch(() =>
      like({ url: 'http://a/', redirected: true, type: 'cors' }),
    )
    const { response, replayed } = await createIdempotentFetch({ fetch })(url, post)
    const { status, redirected, type } = response
    deepStrictEqual([status, response.url, redirected, type], [201, 'http://a/', true, 'cors'])
    deepStrictEqual([await response.text(), replayed], ['made', true])
  })

  it('is read by arrayBuffer() once, and never by clone()', async () => {
    let reads = 0
    const answer = says(201, {}, 'made')()
    const { fetch } = scriptedFetch(() =>
      Object.assign(answer, {
        clone: () => new Error('it would hang'),
        arrayBuffer: () => {
          reads += 1
          return Response.prototype.arrayBuffer.call(answer)
        },
      }),
    )
    const { response } = await createIdempotentFetch({ fetch })(url, post)
    deepStrictEqual([await response.text(), reads], ['made', 1])
  })

  it('may answer without a content, or by a status that no Response has', async () => {
    for (const status of [204, 205, 304]) {
      const { fetch } = scriptedFetch(() => like({ status }))
      const { response } = await createIdempotentFetch({ fetch })(url, post)
      deepStrictEqual([response.status, await response.text()], [status, ''])
    }
    const { fetch } = scriptedFetch(() => like({ status: 999, headers: new Headers() }))
    await rejects(createIdempotentFetch({ fetch })(url, post), { code: 'outcome_unknown' })
  })

  for (const [what, answer] of Object.entries({
    nothing: undefined,
    'an object': {},
    'headers that are an object': { ...like(), headers: {} },
    'a status that is none': { ...like(), status: 'ok' },
    'no content': { ...like(), arrayBuffer: undefined },
    'an opaque answer': like({ type: 'opaque', status: 0 }),
    'an opaque answer that says 200': like({ type: 'opaque', status: 200 }),
    'an opaque redirect': like({ type: 'opaqueredirect', status: 0 }),
    'Response.error()': Response.error(),
    'a status of 0': like({ status: 0 }),
  })) {
    it(`that gives ${what} has sent it: unknown at once, with a cause that says so`, async () => {
      const { fetch, calls } = scriptedFetch(() => answer)
      const journal = notedJournal()
      const send = createIdempotentFetch({ ...quick, fetch, journal })
      await rejects(send(url, post), ({ code, attempts, cause }: Record<string, unknown>) => {
        deepStrictEqual([code, attempts], ['outcome_unknown', 1])
        return cause instanceof TypeError
      })
      deepStrictEqual([calls.length, journal.notes.length], [1, 1])
    })
  }

  it('is that of undici', async () => {
    server.play(cut, answering(201, {}, 'made'))
    const send = createIdempotentFetch({ ...quick, fetch: undiciFetch })
    const { response, attempts } = await send(server.url, post)
    deepStrictEqual([await response.text(), attempts], ['made', 2])
    strictEqual(response.url, server.url)
  })
})

describe('a request whose answer could not be seen', () => {
  it('is refused before it is sent: no-cors', async () => {
    const { fetch, calls } = scriptedFetch(says(201))
    const send = createIdempotentFetch({ fetch })
    await rejects(send(url, { ...post, mode: 'no-cors' }), { code: 'invalid_options' })
    const request = new Request(url, { ...post, mode: 'no-cors' })
    await rejects(send(request), { code: 'invalid_options' })
    strictEqual(calls.length, 0)
  })
})
