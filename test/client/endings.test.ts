import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'

import { createIdempotentFetch } from 'oncely/client'

import { breaks, notedJournal, post, quick, says, scriptedFetch, url } from './scripted-fetch.ts'

const never = () => new Promise<never>(() => undefined)
const hanging = { begin: never, end: () => undefined }
const own = new Error('own')

/** What a call may be in the middle of, and knows of no signal. */
const stalled = {
  'a fetch that never settles': never,
  'a content that never comes': () => Object.assign(says(201)(), { arrayBuffer: never }),
}

/** A signal that aborts as soon as it is in the middle of that. */
function abortingIn(work: () => unknown) {
  const aborting = new AbortController()
  const begun = () => {
    setImmediate(() => {
      aborting.abort(own)
    })
    return work()
  }
  return { signal: aborting.signal, begun }
}

describe('a signal', () => {
  for (const [what, work] of Object.entries(stalled)) {
    it(`F7: ends ${what}`, async () => {
      const { signal, begun } = abortingIn(work)
      const { fetch, calls } = scriptedFetch(begun)
      const send = createIdempotentFetch({ ...quick, fetch })
      const intent = send.intent()
      await rejects(intent.send(url, { ...post, signal }), own)
      deepStrictEqual([calls.length, typeof intent.since], [1, 'number'])
    })
  }

  it('F7: ends a journal that hangs, and nothing is sent', async () => {
    const { signal, begun } = abortingIn(never)
    const { fetch, calls } = scriptedFetch(says(201))
    const send = createIdempotentFetch({ fetch, journal: { ...hanging, begin: begun } })
    const intent = send.intent()
    await rejects(intent.send(url, { ...post, signal }), own)
    deepStrictEqual([calls.length, intent.since], [0, undefined])
  })

  it('F7: counts also where it aborts as the journal is done', async () => {
    const aborting = new AbortController()
    const begin = () => {
      aborting.abort(own)
    }
    const { fetch, calls } = scriptedFetch(says(201))
    const send = createIdempotentFetch({ fetch, journal: { ...hanging, begin } })
    await rejects(send(url, { ...post, signal: aborting.signal }), own)
    strictEqual(calls.length, 0)
  })

  it('F7: ends the content of a Request that never comes', async () => {
    const { signal, begun } = abortingIn(never)
    const body = new ReadableStream({ pull: () => begun() as Promise<void> })
    const request = new Request(url, { method: 'POST', body, duplex: 'half', signal })
    const { fetch, calls } = scriptedFetch(says(201))
    await rejects(createIdempotentFetch({ fetch })(request), own)
    strictEqual(calls.length, 0)
  })

  it('has no listener of a call that has ended', async () => {
    const { signal } = new AbortController()
    const { fetch } = scriptedFetch(breaks, says(503, { 'retry-after': '0' }), says(201))
    const journal = notedJournal()
    const send = createIdempotentFetch({ ...quick, fetch, journal })
    strictEqual((await send(url, { ...post, signal })).attempts, 3)
    await rejects(send(url, { ...post, signal, body: {} as never }), { code: 'invalid_options' })
    strictEqual(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('a deadline', () => {
  for (const [what, work] of Object.entries(stalled)) {
    it(`F8: ends ${what}: unknown`, async () => {
      const { fetch, calls } = scriptedFetch(work)
      const send = createIdempotentFetch({ ...quick, fetch, deadlineMs: 500 })
      await rejects(send(url, post), { code: 'outcome_unknown', attempts: 1 })
      strictEqual(calls.length, 1)
    })

    it(`F8: and the time of an attempt, ${what}, which is sent again`, async () => {
      const { fetch } = scriptedFetch(work, says(201))
      const send = createIdempotentFetch({ ...quick, fetch, attemptTimeoutMs: 300 })
      strictEqual((await send(url, post)).attempts, 2)
    })
  }

  it('F8: ends a journal that hangs: nothing was sent', async () => {
    const { fetch, calls } = scriptedFetch(says(201))
    const send = createIdempotentFetch({ fetch, deadlineMs: 500, journal: hanging })
    const intent = send.intent()
    await rejects(intent.send(url, post), { code: 'deadline_exceeded', name: 'OncelyError' })
    deepStrictEqual([calls.length, intent.since], [0, undefined])
    // What was sent before may have taken effect all the same.
    const kept = send.intent({ key: 'k', since: Date.now() - 1_000 })
    await rejects(kept.send(url, post), { code: 'outcome_unknown', attempts: 0, key: 'k' })
  })

  it('F8: ends the content of a Request that never comes', async () => {
    const body = new ReadableStream({ pull: never })
    const request = new Request(url, { method: 'POST', body, duplex: 'half' })
    const { fetch, calls } = scriptedFetch(says(201))
    const send = createIdempotentFetch({ fetch, deadlineMs: 500 })
    await rejects(send(request), { code: 'deadline_exceeded' })
    strictEqual(calls.length, 0)
  })

  it('F8: is by a clock that nobody sets', async (t) => {
    const now = Date.now()
    let hours = 0
    t.mock.method(Date, 'now', () => now + (hours -= 1) * 3_600_000)
    const { fetch } = scriptedFetch(breaks, says(201))
    strictEqual((await createIdempotentFetch({ ...quick, fetch })(url, post)).attempts, 2)
    t.mock.method(Date, 'now', () => now + (hours += 1) * 3_600_000)
    const { fetch: other } = scriptedFetch(breaks, says(201))
    const send = createIdempotentFetch({ ...quick, fetch: other, deadlineMs: 60_000 })
    strictEqual((await send(url, post)).attempts, 2)
  })
})
