import { rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { createIdempotentFetch } from 'oncely/client'

import { answering, cut, scriptedServer, type Step } from './scripted-server.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const server = scriptedServer()
const send = createIdempotentFetch({ initialDelayMs: 0, maxDelayMs: 0, attemptTimeoutMs: 5_000 })

/** Aborts while an attempt is under way, behind a collection of what nobody holds. */
const abortingBy =
  (aborting: AbortController): Step =>
  () => {
    setImmediate(() => {
      collectGarbage()
      aborting.abort(new Error('own'))
    })
  }

describe('a signal whose Request nobody holds any more', () => {
  for (const [way, sending] of Object.entries({
    'given beside a URL': (signal: AbortSignal) => send(server.url, { method: 'POST', signal }),
    'of a Request': (signal: AbortSignal) =>
      send(new Request(server.url, { method: 'POST', signal })),
    'of an intent': (signal: AbortSignal) =>
      send.intent().send(new Request(server.url, { method: 'POST', signal })),
  })) {
    it(`F7: ends an attempt at once: ${way}`, async () => {
      const aborting = new AbortController()
      server.play(cut, answering(503), abortingBy(aborting), answering(201))
      await rejects(sending(aborting.signal), { message: 'own' })
      strictEqual(server.requests.length, 3)
    })
  }
})
