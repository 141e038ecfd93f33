import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotentFetch, IdempotentFetchError } from 'oncely/client'

import { answering, cut, hang, problem, scriptedServer } from './scripted-server.ts'

const server = scriptedServer()
const quick = { initialDelayMs: 0, maxDelayMs: 0 }
const send = createIdempotentFetch(quick)
const post = { method: 'POST' }

const errorOf = async (sending: Promise<unknown>): Promise<IdempotentFetchError> => {
  const error: unknown = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  ok(error instanceof IdempotentFetchError, String(error))
  return error
}

describe('the last word', () => {
  it('is any status that a retry would not change, and is told whether it was replayed', async () => {
    for (const status of [200, 204, 303, 400, 401, 402, 403, 404, 409, 410, 412, 413, 422, 501]) {
      server.play(answering(status, { 'idempotent-replayed': 'true' }))
      const { response, replayed, attempts } = await send(server.url, {
        ...post,
        redirect: 'manual',
      })
      deepStrictEqual([response.status, replayed, attempts], [status, true, 1])
    }
    server.play(answering(201, {}, 'made'))
    const { response, replayed } = await send(server.url, post)
    deepStrictEqual([await response.text(), replayed], ['made', false])
  })

  for (const [status, code] of [
    [422, 'key_reused'],
    [410, 'key_expired'],
  ] as const) {
    it(`F6: is an error of its own for ${code}, with the key and the answer`, async () => {
      server.play(problem(status, code))
      const intent = send.intent()
      const error = await errorOf(intent.send(server.url, post))
      deepStrictEqual([error.code, error.key, error.attempts], [code, intent.key, 1])
      strictEqual(error.since, intent.since)
      deepStrictEqual(await error.response?.json(), { code, status })
    })
  }

  it('F6: is not the 409 of a first attempt under way, which is waited for until the deadline', async () => {
    server.play(problem(409, 'request_outstanding', { 'retry-after': '0' }))
    const patient = createIdempotentFetch({
      ...quick,
      maxDelayMs: 1,
      maxAttempts: 1,
      deadlineMs: 1_500,
    })
    const error = await errorOf(patient(server.url, post))
    deepStrictEqual([error.code, error.response?.status], ['outcome_unknown', 409])
    strictEqual(error.attempts > 3, true)
  })

  it('F6: of another server, 409 is under way by its Retry-After, and final without', async () => {
    server.play(answering(409, { 'retry-after': '0' }), answering(201))
    strictEqual((await send(server.url, post)).attempts, 2)
    server.play(answering(409))
    const { response, attempts } = await send(server.url, post)
    deepStrictEqual([response.status, attempts], [409, 1])
    server.play(problem(409, 'duplicate', { 'retry-after': '0' }))
    strictEqual((await send(server.url, post)).attempts, 1)
  })

  it('F7: is unknown where an attempt took too long or was cut, and the key is kept', async () => {
    for (const [step, name] of [
      [hang, 'TimeoutError'],
      [cut, 'TypeError'],
    ] as const) {
      server.play(step)
      const hasty = createIdempotentFetch({ ...quick, attemptTimeoutMs: 500, maxAttempts: 2 })
      const intent = hasty.intent()
      const error = await errorOf(intent.send(server.url, post))
      deepStrictEqual(
        [error.code, error.key, error.attempts, (error.cause as Error).name],
        ['outcome_unknown', intent.key, 2, name],
      )
      server.play(answering(201))
      strictEqual((await intent.send(server.url, post)).key, error.key)
    }
  })

  it('is the last answer where every attempt has done nothing for certain, and unknown otherwise', async () => {
    server.play(answering(429, { 'retry-after': '0' }), problem(503, 'unavailable'))
    const { response, attempts } = await send(server.url, post)
    deepStrictEqual([response.status, attempts], [503, 5])
    server.play(cut, answering(429))
    strictEqual((await errorOf(send(server.url, post))).code, 'outcome_unknown')
    // What was sent before may have taken effect.
    server.play(answering(429))
    const kept = send.intent({ key: 'kept', since: Date.now() - 1_000 })
    strictEqual((await errorOf(kept.send(server.url, post))).code, 'outcome_unknown')
  })

  it('F8: comes after so many attempts, and in so much time', async () => {
    server.play(answering(500))
    const three = createIdempotentFetch({ ...quick, maxAttempts: 3 })
    strictEqual((await errorOf(three(server.url, post))).attempts, 3)
    // A pause beyond the deadline is not made.
    server.play(answering(503, { 'retry-after': '3600' }))
    const error = await errorOf(send(server.url, post))
    deepStrictEqual([error.code, error.attempts], ['outcome_unknown', 1])
    server.play(hang)
    const brief = createIdempotentFetch({ ...quick, deadlineMs: 500 })
    strictEqual((await errorOf(brief(server.url, post))).attempts, 1)
    await rejects(three('http://127.0.0.1:1/', post), { code: 'outcome_unknown', attempts: 3 })
  })
})
