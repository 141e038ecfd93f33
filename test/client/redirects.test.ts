import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

import { createIdempotentFetch } from 'oncely/client'

import { post, quick } from './scripted-fetch.ts'
import { answering, scriptedServer, type Step } from './scripted-server.ts'

const server = scriptedServer()
const send = createIdempotentFetch({ ...quick, maxAttempts: 2 })

/** What has come, of each request: its method, its key and its content. */
const come: [method: unknown, key: unknown, content: string][] = []
const reading =
  (then: Step): Step =>
  async (request, response) => {
    come.push([request.method, request.headers['idempotency-key'], await text(request)])
    then(request, response)
  }
const redirecting = (status: number) => {
  come.length = 0
  server.play(
    reading((request, response) => answering(status, { location: server.url })(request, response)),
    reading(answering(200, { 'idempotency-key-retention': '0' }, 'there')),
  )
}

describe('a redirect', () => {
  for (const [status, method, content] of [
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'content'],
    [308, 'POST', 'content'],
  ] as const) {
    it(`is followed by a ${method}, and the key goes along: ${status}`, async () => {
      redirecting(status)
      const { response, attempts, key } = await send(server.url, post)
      deepStrictEqual([await response.text(), response.redirected, attempts], ['there', true, 1])
      deepStrictEqual(come, [
        ['POST', `"${key}"`, 'content'],
        [method, `"${key}"`, content],
      ])
    })
  }

  it('that is an error leaves the outcome unknown', async () => {
    come.length = 0
    server.play(reading(answering(302, { location: '/' })))
    await rejects(send(server.url, { ...post, redirect: 'error' }), { code: 'outcome_unknown' })
    strictEqual(
      come.every(([method]) => method === 'POST'),
      true,
    )
  })
})
