import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import {
  createIdempotentFetch,
  IdempotentFetchError,
  type JournalEntry,
  type KeptIntent,
} from 'oncely/client'

import { learn, pathOf } from '../../src/client/retention.ts'
import { failureOf } from '../support/calls.ts'
import { breaks, post, quick, says, scriptedFetch, url } from './scripted-fetch.ts'

const HOUR = 3_600_000
const announcing = (seconds: string) => says(201, { 'idempotency-key-retention': seconds })
const ago = (ms: number): KeptIntent => ({ key: 'kept', since: Date.now() - ms })

describe('a retention that the server has announced', () => {
  it('counts for its path alone', async () => {
    const { fetch, calls } = scriptedFetch(announcing('3600'))
    const send = createIdempotentFetch({ ...quick, fetch })
    await send(`${url}?page=1`, post)
    await rejects(send.intent(ago(2 * HOUR)).send(url, post), {
      code: 'retention_exceeded',
      attempts: 0,
      retentionMs: HOUR,
    })
    strictEqual(calls.length, 1)
    strictEqual((await send.intent(ago(2 * HOUR)).send(`${url}/2`, post)).attempts, 1)
  })

  it('is not that of where a request was redirected to', () => {
    const announced = new Map<string, number>()
    const response = announcing('3600')()
    Object.defineProperty(response, 'redirected', { value: true })
    learn(announced, pathOf(url), response)
    strictEqual(announced.size, 0)
  })

  it('may come twice, as one value, and is nothing where it cannot be understood', () => {
    const of = (value: string) => {
      const announced = new Map<string, number>()
      learn(announced, 'path', announcing(value)())
      return announced.get('path')
    }
    deepStrictEqual(['3600', '3600, 3600', '0', '3600, 60', '1.5', ''].map(of), [
      ...[HOUR, HOUR, 0],
      ...[undefined, undefined, undefined],
    ])
  })

  it('is remembered of so many paths', () => {
    const announced = new Map<string, number>()
    for (let path = 0; path < 2_000; path += 1) learn(announced, `${path}`, announcing('1')())
    deepStrictEqual(
      [announced.size, announced.has('1999'), announced.has('0')],
      [1_000, true, false],
    )
  })

  it('of nothing stops no intent that was never sent, and lets none be repeated', async () => {
    const { fetch, calls } = scriptedFetch(announcing('0'), announcing('0'), breaks)
    const send = createIdempotentFetch({ ...quick, fetch })
    for (const _ of [1, 2]) strictEqual((await send(url, post)).attempts, 1)
    const error = await failureOf(send(url, post))
    deepStrictEqual(
      [(error as IdempotentFetchError).code, (error as IdempotentFetchError).attempts],
      ['retention_exceeded', 1],
    )
    strictEqual(calls.length, 3)
  })

  it('bounds nothing where no attempt can have taken effect', async () => {
    const headers = { 'idempotency-key-retention': '0', 'retry-after': '0' }
    const { fetch } = scriptedFetch(says(429, headers), says(429, headers), says(201))
    strictEqual((await createIdempotentFetch({ ...quick, fetch })(url, post)).attempts, 3)
  })
})

describe('a retention that was kept', () => {
  it('is that of the entry and of the error, so that it counts behind a restart', async () => {
    const entries: JournalEntry[] = []
    const journal = { begin: (entry: JournalEntry) => entries.push(entry), end: () => undefined }
    const { fetch } = scriptedFetch(announcing('3600'), breaks)
    const send = createIdempotentFetch({ ...quick, fetch, journal })
    await send(url, post)
    const error = await failureOf(send(url, post))
    if (!(error instanceof IdempotentFetchError)) throw error
    deepStrictEqual(
      [error.code, error.retentionMs, entries.map(({ retentionMs }) => retentionMs)],
      ['outcome_unknown', HOUR, [undefined, HOUR]],
    )
    const restarted = createIdempotentFetch({ ...quick, fetch, journal })
    const stored = JSON.parse(JSON.stringify(entries[1])) as JournalEntry
    const late = { ...stored, since: Date.now() - 2 * HOUR }
    await rejects(restarted.intent(late).send(url, post), { code: 'retention_exceeded' })
    await rejects(restarted.intent(error).send(url, post), { code: 'outcome_unknown' })
  })

  it('is the smaller of both, and without either the option', async () => {
    const { fetch } = scriptedFetch(announcing('7200'))
    const send = createIdempotentFetch({ ...quick, fetch, retentionMs: 3 * HOUR })
    const isSent = async (kept: KeptIntent) =>
      send
        .intent(kept)
        .send(url, post)
        .then(
          () => true,
          () => false,
        )
    const within = { ...ago(1.5 * HOUR), retentionMs: HOUR }
    deepStrictEqual([await isSent(within), await isSent(ago(2.5 * HOUR))], [false, true])
    // Announced by now.
    deepStrictEqual([await isSent(ago(2.5 * HOUR)), await isSent(within)], [false, false])
    strictEqual(await isSent({ ...ago(1.5 * HOUR), retentionMs: 9 * HOUR }), true)
  })
})
