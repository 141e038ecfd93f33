// Express tells a middleware of no error, and cuts the connection of one amid an answer.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { createIdempotency } from 'oncely'
import { idempotent } from 'oncely/express'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { listening } from './conformance/adapters/parts.ts'
import { write } from './conformance/check.ts'
import type { Server } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()
const principal = () => ({ tenant: 't1', actor: 'u1' })
// Whoever waits for its end waits longer than the tests do.
const options = { operation: 'errors', principal, deadlineMs: 600_000 }
const once = idempotent(createIdempotency(host.connect()), options)

/** A route whose handler fails in its way, behind a note under the key; and an error handler of the app's. */
async function failing(fail: RequestHandler, isTold: boolean): Promise<Server> {
  const app = express().set('env', 'test')
  const handler: RequestHandler = async (request, response, next) => {
    await write(once.of(request))
    await fail(request, response, next)
  }
  if (isTold) app.post('/', once, handler, once.onError)
  else app.post('/', once, handler)
  const onError: ErrorRequestHandler = (error: Error, _request, response, next) => {
    if (response.headersSent) next(error)
    else response.json({ error: error.message })
  }
  app.use(onError)
  return serve(listening(app.listen(0, '127.0.0.1')))
}

async function post({ url }: Server, key: string) {
  const response = await fetch(url, { method: 'POST', headers: { 'idempotency-key': key } })
  return [response.status, await response.text(), response.headers.get('idempotent-replayed')]
}

const notes = async (key: string) => (await host.left(key)).notes.length

const thrown: Record<string, RequestHandler> = {
  throws(_request, response) {
    response.status(201).send('made')
    throw new Error('own')
  },
  'calls next'(_request, response, next) {
    response.status(201).send('made')
    next(new Error('own'))
  },
}

describe('a handler of Express', () => {
  for (const [how, fail] of Object.entries(thrown)) {
    for (const isTold of [true, false]) {
      it(`that ${how} behind its answer has answered, ${isTold ? 'with' : 'without'} onError`, async () => {
        const key = `behind-${how.replace(' ', '-')}-${isTold}`
        const server = await failing(fail, isTold)
        deepStrictEqual(await post(server, key), [201, 'made', null])
        deepStrictEqual(await post(server, key), [201, 'made', 'true'])
        strictEqual(await notes(key), 1)
      })
    }
  }

  it('that throws is answered by an error handler, and by onError that is not stored', async () => {
    const server = await failing(() => {
      throw new Error('own')
    }, true)
    for (const time of [1, 2]) {
      deepStrictEqual([time, ...(await post(server, 'told'))], [time, 200, '{"error":"own"}', null])
    }
    strictEqual(await notes('told'), 0)
    const untold = await failing(() => {
      throw new Error('own')
    }, false)
    await post(untold, 'untold')
    deepStrictEqual(await post(untold, 'untold'), [200, '{"error":"own"}', 'true'])
  })

  for (const isTold of [true, false]) {
    it(`that throws amid its answer gives the key back at once, ${isTold ? 'with' : 'without'} onError`, async () => {
      let runs = 0
      const server = await failing((_request, response) => {
        runs += 1
        if (runs > 1) {
          response.send('whole')
          return
        }
        response.write('half')
        throw new Error('own')
      }, isTold)
      const key = `amid-${isTold}`
      // With it nothing was sent, and the error is answered as any other.
      if (isTold) deepStrictEqual(await post(server, key), [200, '{"error":"own"}', null])
      else strictEqual(await post(server, key).catch(() => 'cut'), 'cut')
      let [status, text] = await post(server, key)
      for (let tries = 1; status === 409 && tries < 40; tries += 1) {
        ;[status, text] = await post(server, key)
      }
      deepStrictEqual([status, text, runs], [200, 'whole', 2])
      strictEqual(await notes(key), 1)
    })
  }

  it('whose middleware is in front twice is told of it, and waits for nothing', async () => {
    const app = express().set('env', 'test')
    const heard: unknown[] = []
    const onError: ErrorRequestHandler = (error: { code: string }, _request, response, next) => {
      heard.push(error.code)
      if (response.headersSent) next(error)
      else response.status(500).end()
    }
    app.post('/', once, once, (_request, response) => void response.end()).use(onError)
    const server = await serve(listening(app.listen(0, '127.0.0.1')))
    strictEqual((await post(server, 'twice'))[0], 500)
    deepStrictEqual(heard, ['call_under_way'])
  })
})
