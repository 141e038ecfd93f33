import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotentFetch, type IdempotentFetchError } from 'oncely/client'

import {
  breaks,
  notedJournal,
  post,
  quick,
  says,
  saysProblem,
  scriptedFetch,
  url,
} from './scripted-fetch.ts'

/** A client whose journal is noted. */
function client(...answers: readonly (() => unknown)[]) {
  const { fetch, calls } = scriptedFetch(...answers)
  const journal = notedJournal()
  const send = createIdempotentFetch({ ...quick, fetch, journal })
  return { send, calls, notes: journal.notes }
}

describe('a refusal that anybody on the way may have said', () => {
  for (const status of [400, 401, 403, 404, 409, 410, 413, 422]) {
    it(`F6: is no last word behind an attempt that is unknown: ${status}`, async () => {
      const { send, calls, notes } = client(breaks, says(status), says(201))
      const intent = send.intent({ key: 'k' })
      await rejects(
        intent.send(url, post),
        ({ code, attempts, response }: IdempotentFetchError) => {
          deepStrictEqual([code, attempts, response?.status], ['outcome_unknown', 2, status])
          return true
        },
      )
      deepStrictEqual([calls.length, notes], [2, ['begin k']])
      // The same key still ends in the truth.
      strictEqual((await intent.send(url, post)).response.status, 201)
      deepStrictEqual(notes, ['begin k', 'begin k', 'end k'])
    })
  }

  it('F6: nor of an intent that was sent by another program, or that took effect', async () => {
    const { send, notes } = client(says(403))
    const kept = send.intent({ key: 'k', since: Date.now() - 1_000 })
    await rejects(kept.send(url, post), { code: 'outcome_unknown', attempts: 1 })
    deepStrictEqual(notes, ['begin k'])
    const done = client(says(201), says(403))
    const intent = done.send.intent()
    await intent.send(url, post)
    await rejects(intent.send(url, post), { code: 'outcome_unknown', attempts: 1 })
  })

  it('is the answer where no attempt can have taken effect, however often it is asked', async () => {
    const { send } = client(says(429, { 'retry-after': '0' }), says(400))
    const intent = send.intent()
    strictEqual((await intent.send(url, post)).response.status, 400)
    strictEqual(intent.since, undefined)
    strictEqual((await intent.send(url, post)).response.status, 400)
    // Two clicks at once.
    const clicks = await Promise.allSettled([intent.send(url, post), intent.send(url, post)])
    strictEqual(
      clicks.some(({ status }) => status === 'fulfilled'),
      true,
    )
  })

  it('is unknown as long as another click of the same intent is under way', async () => {
    const first = Promise.withResolvers<Response>()
    const { send } = client(() => first.promise, says(403))
    const intent = send.intent()
    const clicks = [intent.send(url, post), intent.send(url, post)]
    await rejects(clicks[1] ?? Promise.resolve(), { code: 'outcome_unknown' })
    first.resolve(new Response(null, { status: 201 }))
    strictEqual((await clicks[0])?.response.status, 201)
  })
})

describe('a refusal of the endpoint itself', () => {
  for (const [what, answer] of Object.entries({
    'that was replayed': says(402, { 'idempotent-replayed': 'true' }),
    'that is stored': says(402, { 'idempotency-key-retention': '86400' }),
    'of a business object that is there': saysProblem(409, 'duplicate'),
    'that may not be seen': saysProblem(
      403,
      'access_denied',
      'Application/Problem+JSON; charset=utf-8',
    ),
    'that is stored, by 501': says(501, { 'idempotent-replayed': 'true' }),
  })) {
    it(`is the last word behind an attempt that is unknown: one ${what}`, async () => {
      const { send, notes } = client(breaks, answer)
      const { response, attempts } = await send.intent({ key: 'k' }).send(url, post)
      deepStrictEqual([response.status, attempts], [answer().status, 2])
      deepStrictEqual(notes, ['begin k', 'end k'])
    })
  }
})

describe('a failure that is not sent again', () => {
  for (const status of [501, 505, 507, 520, 521, 522, 523, 524, 599]) {
    it(`is unknown at once, also of the first attempt: ${status}`, async () => {
      const { send, calls, notes } = client(says(status))
      await rejects(
        send.intent({ key: 'k' }).send(url, post),
        ({ code, response }: IdempotentFetchError) => {
          deepStrictEqual([code, response?.status], ['outcome_unknown', status])
          return true
        },
      )
      deepStrictEqual([calls.length, notes], [1, ['begin k']])
    })
  }
})

describe('the entry of an intent', () => {
  for (const status of [401, 407, 425, 429]) {
    it(`stays where the same may be sent later: ${status}`, async () => {
      const { send, notes } = client(says(status))
      const intent = send.intent({ key: 'k' })
      strictEqual((await intent.send(url, post)).response.status, status)
      deepStrictEqual([notes, intent.since], [['begin k'], undefined])
    })
  }

  for (const status of [200, 303, 400, 404, 413]) {
    it(`is ended where the answer is settled: ${status}`, async () => {
      const { send, notes } = client(says(status))
      await send.intent({ key: 'k' }).send(url, post)
      deepStrictEqual(notes, ['begin k', 'end k'])
    })
  }

  it('stays where the server is unavailable for as long as it is asked', async () => {
    const { send, notes } = client(saysProblem(503, 'unavailable'))
    const intent = send.intent({ key: 'k' })
    strictEqual((await intent.send(url, post)).response.status, 503)
    deepStrictEqual([notes, intent.since], [['begin k'], undefined])
  })

  it('is ended before the answer is given, and an end that hangs or throws keeps no answer', async () => {
    const ended = Promise.withResolvers<undefined>()
    const { fetch } = scriptedFetch(says(201))
    const begin = () => undefined
    const patient = createIdempotentFetch({ fetch, journal: { begin, end: () => ended.promise } })
    let isGiven = false
    const sending = patient(url, post).then(() => (isGiven = true))
    await new Promise(setImmediate)
    strictEqual(isGiven, false)
    ended.resolve(undefined)
    strictEqual(await sending, true)
    const never = () => new Promise(() => undefined)
    const hasty = { fetch, attemptTimeoutMs: 300, journal: { begin, end: never } }
    strictEqual((await createIdempotentFetch(hasty)(url, post)).attempts, 1)
  })
})
