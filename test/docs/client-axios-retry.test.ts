import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'

import axios, { AxiosError } from 'axios'
import axiosRetry from 'axios-retry'

import { http, isOpen } from '../../examples/clients/axios-retry.ts'
import { answering, cut, hang, problem, type Step } from '../client/scripted-server.ts'
import { waysToFail } from '../client/ways-to-fail.ts'
import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { ordersServer, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass, lose } = service

/** How often it was sent, and what came of it. */
async function tried(step: Step): Promise<readonly [attempts: number, open: boolean]> {
  server.play(step)
  const fast = { 'axios-retry': { retries: 1, retryDelay: () => 0 }, timeout: 500 }
  const error = await failureOf(http.post(service.url, tea, fast))
  ok(error instanceof AxiosError)
  return [server.requests.length, isOpen(error)]
}

describe('axios with axios-retry', () => {
  it('[16] An interceptor that makes a key for every attempt makes an order for every attempt', async () => {
    const client = axios.create()
    client.interceptors.request.use((config) => {
      config.headers.set('Idempotency-Key', `"${randomUUID()}"`)
      return config
    })
    axiosRetry(client, { retries: 2, retryCondition: isOpen })
    server.play(lose, lose, pass)
    strictEqual((await client.post(service.url, tea)).status, 201)
    deepStrictEqual([new Set(service.keys()).size, await service.orders()], [3, 3])
  })

  it('[17] One that leaves a key which is there makes one', async () => {
    server.play(cut, lose)
    const { status, headers } = await http.post(service.url, tea)
    deepStrictEqual([status, headers['idempotent-replayed']], [201, 'true'])
    deepStrictEqual([service.keys().length, new Set(service.keys()).size], [3, 1])
    strictEqual(await service.orders(), 1)
  })

  it('[18] A second `post` has a key of its own, unless you give it one in `headers`', async () => {
    server.play(pass)
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` }
    for (const options of [{}, {}, { headers }, { headers }]) {
      strictEqual((await http.post(service.url, tea, options)).status, 201)
    }
    deepStrictEqual([new Set(service.keys()).size, await service.orders()], [3, 3])
  })

  it('[19] A 409 is sent again only where it says that the first is under way, and never a 422 or a 410', async () => {
    deepStrictEqual(await tried(problem(409, 'request_outstanding')), [2, true])
    deepStrictEqual(await tried(problem(409, 'duplicate', { 'retry-after': '0' })), [1, false])
    deepStrictEqual(await tried(problem(422, 'key_reused')), [1, false])
    deepStrictEqual(await tried(problem(410, 'key_expired')), [1, false])
  })

  it('[20] `isOpen` is true of what is thrown in the end wherever the outcome is unknown, but for your own abort', async () => {
    for (const step of [cut, hang, answering(502), problem(503, 'outcome_unknown')]) {
      deepStrictEqual(await tried(step), [2, true])
    }
    const leaving = new AbortController()
    server.play(() => {
      leaving.abort()
    })
    const error = await failureOf(http.post(service.url, tea, { signal: leaving.signal }))
    ok(error instanceof AxiosError)
    deepStrictEqual([server.requests.length, isOpen(error)], [1, false])
  })

  it('[21] An answer that breaks off is an error with a status of 201, and is sent again', async () => {
    const [broken] = Object(waysToFail(pass)['cuts amid the answer']) as Step[]
    server.play(broken ?? hang)
    const once = { 'axios-retry': { retries: 0 } }
    await rejects(http.post(service.url, tea, once), { code: 'ERR_BAD_RESPONSE', status: 201 })
    server.play(broken ?? hang, pass)
    strictEqual((await http.post(service.url, tea)).headers['idempotent-replayed'], 'true')
    strictEqual(await service.orders(), 1)
  })

  it('[22] A pause is at least as long as `Retry-After` says', async () => {
    const times: number[] = []
    const unavailable: Step = (request, response) => {
      times.push(performance.now())
      return problem(503, 'unavailable', { 'retry-after': '1' })(request, response)
    }
    server.play(unavailable, (request, response) => {
      times.push(performance.now())
      return pass(request, response)
    })
    await http.post(service.url, tea)
    ok(Number(times[1]) - Number(times[0]) >= 990, String(times))
  })
})
