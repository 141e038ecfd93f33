import { doesNotThrow, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, isOncelyError } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import { idempotent as onHono } from 'oncely/hono'
import { idempotent as onFetch } from 'oncely/http'
import { idempotent as onNode } from 'oncely/node'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())
const principal = () => ({ tenant: 't1', actor: 'u1' })
const given = { operation: 'things.make', principal }

const wrong: Record<string, object> = {
  'no operation': { operation: undefined },
  'an empty operation': { operation: '' },
  'no principal': { principal: undefined },
  'a principal that is no function': { principal: principal() },
  'a fingerprint that is no function': { fingerprint: {} },
  'methods that are no array': { methods: 'POST' },
  'a method that is none': { methods: ['POST '] },
  'a flag that is none': { required: 'yes' },
  'a size below zero': { maxRequestBytes: -1 },
  'a size beyond what fits': { maxRequestBytes: 2 ** 40 },
  'a final status that is no refusal': { finalStatuses: [500] },
  'a preset that there is not': { finalStatuses: 'all' },
  'a header that cannot be stored': { storedHeaders: ['Set-Cookie'] },
  'a header that is no name': { storedHeaders: ['a:b'] },
  'a deadline of nothing': { deadlineMs: 0 },
  'a page that is no URL': { describedBy: 'here' },
  'an option that there is not': { replayed: true },
}

const adapters = { fetch: onFetch, node: onNode, express: onExpress, hono: onHono }

for (const [name, idempotent] of Object.entries(adapters)) {
  describe(`the options of a route, ${name}`, () => {
    const make = (options: object) => (idempotent as typeof onFetch)(idempotency, options as never)

    it('are refused at once where they are none', () => {
      for (const [what, part] of Object.entries(wrong)) {
        throws(
          () => make({ ...given, ...part }),
          (error) => isOncelyError(error) && error.code === 'invalid_options',
          what,
        )
      }
    })

    it('have defaults, also where they are given as undefined', () => {
      doesNotThrow(() => make({ ...given, methods: undefined, fingerprint: undefined }))
    })

    it('and a request that has no call is told of it', () => {
      throws(() => make(given).of({} as never), { code: 'call_missing' })
      strictEqual(make(given).find({} as never), undefined)
    })

    it('and an instance that is none, or nothing at all, likewise', () => {
      for (const instance of [undefined, {}, database.watcher]) {
        throws(() => (idempotent as typeof onFetch)(instance as never, given), {
          code: 'invalid_options',
        })
      }
      throws(() => make(undefined as never), { code: 'invalid_options' })
    })
  })
}
