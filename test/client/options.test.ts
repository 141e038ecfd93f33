import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'

import { createIdempotentFetch } from 'oncely/client'

import { retryAfterMs } from '../../src/client/retry-after.ts'

const wrong: Record<string, object> = {
  'an option that there is not': { retries: 3 },
  'a fetch that is no function': { fetch: 'fetch' },
  'a format that there is not': { keyFormat: 'token' },
  'no attempt': { maxAttempts: 0 },
  'a deadline of nothing': { deadlineMs: 0 },
  'a timeout that is no number': { attemptTimeoutMs: '1s' },
  'a pause below nothing': { initialDelayMs: -1 },
  'a pause that is no number': { maxDelayMs: Number.NaN },
  'a retention of nothing': { retentionMs: 0 },
  'a journal that has no end': { journal: { begin: () => undefined } },
  'a journal that is switched off': { journal: false },
  'a journal that is null': { journal: null },
}

describe('the options of a client', () => {
  for (const [what, options] of Object.entries(wrong)) {
    it(`are refused at once: ${what}`, () => {
      throws(() => createIdempotentFetch(options), { code: 'invalid_options' })
    })
  }

  it('have defaults, also where they are given as undefined', async () => {
    const { intent } = createIdempotentFetch({ fetch: undefined, journal: undefined })
    throws(() => intent({ key: 'a', since: Number.NaN }), { code: 'invalid_options' })
    await rejects(intent().send('http://a/', { method: 'GET' }), { code: 'invalid_options' })
  })
})

describe('Retry-After', () => {
  const of = (after: string, date?: string) =>
    retryAfterMs(new Headers({ 'retry-after': after, ...(date && { date }) }), Date.UTC(2026, 0, 1))

  it('is in seconds, or a date by the clock of the server', () => {
    strictEqual(of('0'), 0)
    strictEqual(of('120'), 120_000)
    strictEqual(of('Thu, 01 Jan 2026 00:00:05 GMT'), 5_000)
    strictEqual(of('Thu, 01 Jan 2026 00:00:05 GMT', 'Thu, 01 Jan 2026 00:00:03 GMT'), 2_000)
    strictEqual(of('Wed, 31 Dec 2025 00:00:00 GMT'), 0)
  })

  it('is nothing where it cannot be understood', () => {
    for (const text of ['', '-1', '1.5', 'soon', '2026']) {
      strictEqual(of(text), text === '2026' ? 2_026_000 : undefined, text)
    }
  })
})

describe('what a client is made of', () => {
  it('is there in a browser: nothing of Node, and no package', () => {
    const src = join(import.meta.dirname, '../../src')
    const seen = new Set(['client.ts'])
    const imported = (file: string) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) =>
        String(name).startsWith('.') ? join(dirname(file), String(name)) : String(name),
      )
    for (const file of seen) for (const name of imported(file)) seen.add(name)
    deepStrictEqual(
      [...seen].filter((file) => !file.endsWith('.ts')),
      [],
    )
    strictEqual(
      globSync('client/*.ts', { cwd: src }).every((file) => seen.has(file)),
      true,
    )
  })
})
