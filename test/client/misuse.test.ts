import { ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import * as client from 'oncely/client'
import * as oncely from 'oncely'

import { failureOf } from '../support/calls.ts'
import { breaks, post, quick, says, scriptedFetch, url } from './scripted-fetch.ts'

const { createIdempotentFetch, IdempotentFetchError, isOncelyError, OncelyError } = client

const used = new Request(url, post)
await used.text()

describe('a request that cannot be made', () => {
  for (const [what, [input, init]] of Object.entries<[unknown, object?]>({
    'a relative URL, on Node': ['/orders', post],
    'a URL that cannot be parsed': ['http://', post],
    'a URL with a password': ['http://a:b@shop.test/', post],
    'a Request that was used': [used, {}],
    'a method that no fetch sends': [url, { method: 'CONNECT' }],
    'a method that is none': [url, { method: 'NO WAY' }],
    'a signal that is none': [url, { ...post, signal: {} }],
    'a header that is none': [url, { ...post, headers: { 'no way': '1' } }],
  })) {
    it(`is refused with the error of the platform as its cause: ${what}`, async () => {
      const { fetch, calls } = scriptedFetch(says(201))
      const error = await failureOf(createIdempotentFetch({ fetch })(input as string, init))
      ok(isOncelyError(error), String(error))
      strictEqual(error.code, 'invalid_options')
      ok(error.cause instanceof TypeError)
      strictEqual(calls.length, 0)
    })
  }
})

describe('an error of a client', () => {
  it('has its name, and is known by what the client exports', async () => {
    const { fetch } = scriptedFetch(breaks)
    const error = await failureOf(createIdempotentFetch({ ...quick, fetch })(url, post))
    ok(error instanceof IdempotentFetchError && error instanceof OncelyError)
    strictEqual(error.name, 'IdempotentFetchError')
    strictEqual(isOncelyError(error), true)
    strictEqual(OncelyError, oncely.OncelyError)
    await rejects(createIdempotentFetch()('/', post), { name: 'OncelyError' })
  })
})
