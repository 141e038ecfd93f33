// A stream that is larger than an answer may be is stopped there, and not at its end.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { nodeFrameworks } from './node-frameworks.ts'

const database = testDatabase()
const host = notesHost(database)
const start = nodeFrameworks(createIdempotency(host.connect(), { maxResponseBytes: 1_000 }))

describe('an endless answer', () => {
  for (const framework of ['node', 'express'] as const) {
    it(`is refused as soon as it is too large, on ${framework}`, async () => {
      let written = 0
      function* endless() {
        for (;;) {
          written += 1
          yield Buffer.alloc(100)
        }
      }
      const url = await start(framework, (_request, response) =>
        pipeline(Readable.from(endless()), response),
      )
      const headers = { 'idempotency-key': framework }
      const seen = await fetch(url, { method: 'POST', headers })
      const { code } = (await seen.json()) as { code: string }
      deepStrictEqual([seen.status, code], [500, 'response_too_large'])
      strictEqual(written < 100, true, String(written))
      deepStrictEqual((await host.left(framework)).notes, [])
    })
  }
})
