import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'

import { createIdempotentFetch, type FetchInit } from 'oncely/client'

import { sendWithToken } from '../../examples/clients/token.ts'
import { answering, cut } from '../client/scripted-server.ts'
import { testDatabase } from '../support/database.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass, lose } = service

const headers = { 'content-type': 'application/json' }
const order = { method: 'POST', headers, body: JSON.stringify(tea) }
const tokensCome = () => server.requests.map((request) => request.headers.authorization)

/** Another token for each attempt; `renew` makes it one that the service takes. */
function tokens(...all: readonly string[]) {
  let used = 0
  let renewals = 0
  return {
    current: () => Promise.resolve(all[used++] ?? 'alice'),
    renew: () => Promise.resolve(void (renewals += 1)),
    renewals: () => renewals,
  }
}

describe('a token', () => {
  it('[40] Every attempt has the token of its time', async () => {
    server.play(answering(503, { 'retry-after': '0' }), lose, pass)
    const send = sendWithToken(tokens('old', 'alice', 'alice'))
    const { response, replayed, attempts } = await send(service.url, order)
    deepStrictEqual([response.status, replayed, attempts], [201, true, 3])
    deepStrictEqual(tokensCome(), ['Bearer old', 'Bearer alice', 'Bearer alice'])
    strictEqual(await service.orders(), 1)
  })

  it('[41] a 401 is sent again with a new one, by the same key', async () => {
    server.play(pass)
    const given = tokens('nobody')
    const { response, attempts, key } = await sendWithToken(given)(service.url, order)
    deepStrictEqual([response.status, attempts, given.renewals()], [201, 1, 1])
    deepStrictEqual(service.keys(), [key, key])
    strictEqual(await service.orders(), 1)
  })
})

describe('another fetch', () => {
  it('[42] It is given an absolute URL, and an init of its own for each attempt, whose headers are a plain object', async () => {
    server.play(cut, pass)
    const given: [url: unknown, init: FetchInit][] = []
    const send = createIdempotentFetch({
      ...quick,
      fetch(url, init) {
        given.push([url, { ...init, headers: { ...init.headers } }])
        init.headers['x-attempt'] = String(given.length)
        return fetch(url, init)
      },
    })
    const { key } = await send(new URL(service.url), order)
    const expected = { ...headers, 'idempotency-key': `"${key}"` }
    deepStrictEqual(
      given.map(([url, init]) => [url, init.method, init.headers]),
      Array.from({ length: 2 }, () => [service.url, 'POST', expected]),
    )
    strictEqual(await service.orders(), 1)
  })
})

describe('an older platform', () => {
  it('[43] Nothing of the client needs what older browsers lack, such as `AbortSignal.any`', async () => {
    const program = join(import.meta.dirname, 'older-platform.ts')
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program])
    const [removed, ...told] = stdout.trim().split(' ')
    strictEqual(Number(removed) >= 16, true)
    deepStrictEqual(told, ['201', '2', '1', 'false'])
  })
})
