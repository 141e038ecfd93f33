import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotentFetch, type JournalEntry } from 'oncely/client'

import { answering, cut, hang, problem, scriptedServer } from './scripted-server.ts'

const server = scriptedServer()
const quick = { initialDelayMs: 0, maxDelayMs: 0 }
const post = { method: 'POST' }

describe('for how long an intent is sent again', () => {
  it('is as long as the server keeps a key, by the option until it is announced', async () => {
    const hour = 3_600_000
    const send = createIdempotentFetch({ ...quick, retentionMs: 10 * hour })
    const kept = (hours: number) => send.intent({ key: 'kept', since: Date.now() - hours * hour })
    server.play(answering(201, { 'idempotency-key-retention': String(2 * 3_600) }))
    await rejects(kept(11).send(server.url, post), { code: 'retention_exceeded', attempts: 0 })
    strictEqual(server.requests.length, 0)
    strictEqual((await kept(9).send(server.url, post)).attempts, 1)
    await rejects(kept(3).send(server.url, post), { code: 'retention_exceeded', attempts: 0 })
    strictEqual((await kept(1).send(server.url, post)).attempts, 1)
  })
})

describe('a signal', () => {
  it('F7: ends an attempt at once, and nothing is sent any more', async () => {
    server.play(hang)
    const aborting = new AbortController()
    const send = createIdempotentFetch({
      ...quick,
      async fetch(input, init) {
        setImmediate(() => {
          aborting.abort(new Error('own'))
        })
        return fetch(input, init)
      },
    })
    await rejects(send(server.url, { ...post, signal: aborting.signal }), { message: 'own' })
    await rejects(send(server.url, { ...post, signal: aborting.signal }), { message: 'own' })
    strictEqual(server.requests.length <= 1, true)
  })

  it('F7: ends a pause at once', async () => {
    server.play(answering(503, { 'retry-after': '30' }))
    const aborting = new AbortController()
    const send = createIdempotentFetch({
      ...quick,
      async fetch(input, init) {
        const response = await fetch(input, init)
        setTimeout(() => {
          aborting.abort(new Error('own'))
        }, 20)
        return response
      },
    })
    const signal = aborting.signal
    await rejects(send(new Request(server.url, { ...post, signal })), { message: 'own' })
    strictEqual(server.requests.length, 1)
  })
})

describe('a journal', () => {
  const events: unknown[] = []
  const journal = {
    begin: ({ key, url, method }: JournalEntry) => {
      events.push(['begin', key, url, method, server.requests.length])
    },
    end: ({ key }: JournalEntry) => events.push(['end', key]),
  }
  const send = createIdempotentFetch({ ...quick, maxAttempts: 2, journal })
  const told = () => events.splice(0)

  it('F3: has an intent before it is sent, and until its answer is final', async () => {
    server.play(cut, answering(201))
    const { key } = await send(server.url, post)
    deepStrictEqual(told(), [
      ['begin', key, server.url, 'POST', 0],
      ['end', key],
    ])
    server.play(problem(422, 'key_reused'))
    await rejects(send.intent({ key: 'reused' }).send(server.url, post), { code: 'key_reused' })
    deepStrictEqual(told().at(-1), ['end', 'reused'])
  })

  it('F3: has it still where nobody knows, so that it is sent again behind a restart', async () => {
    server.play(cut)
    let kept: Pick<JournalEntry, 'key' | 'since'> | undefined
    await send(server.url, post).catch((error: unknown) => {
      kept = error as JournalEntry
    })
    strictEqual(told().length, 1)
    server.play(answering(201))
    const again = createIdempotentFetch({ ...quick, journal }).intent(kept)
    strictEqual((await again.send(server.url, post)).key, kept?.key)
    deepStrictEqual(told().at(-1), ['end', kept?.key])
  })

  it('that cannot take it keeps it from being sent; that cannot let it go keeps no answer', async () => {
    server.play(answering(201))
    const refusing = () => Promise.reject(new Error('full'))
    const full = createIdempotentFetch({ journal: { begin: refusing, end: refusing } })
    const intent = full.intent()
    await rejects(intent.send(server.url, post), { message: 'full' })
    deepStrictEqual([server.requests.length, intent.since], [0, undefined])
    const sticky = createIdempotentFetch({ journal: { begin: () => undefined, end: refusing } })
    strictEqual((await sticky(server.url, post)).response.status, 201)
  })
})
