// A client hangs up while its answer is made: it is stored all the same, and its retry is answered.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'

import express from 'express'
import { createIdempotency } from 'oncely'
import { idempotent } from 'oncely/express'

import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost } from '../support/notes-host.ts'
import { served } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())
const principal = () => ({ tenant: 't1', actor: 'u1' })
const file = import.meta.filename
const content = readFileSync(file, 'utf8')

interface Moment {
  /** Comes once the client is gone. */
  readonly gone: Promise<unknown>
  readonly readyToLose: () => Promise<void>
}

type Answer = (response: express.Response, moment: Moment) => unknown

async function* inTwo({ readyToLose, gone }: Moment) {
  yield content.slice(0, 10)
  await readyToLose()
  await gone
  yield content.slice(10)
}

const answers: Readonly<Record<string, Answer>> = {
  async 'before a file is sent'(response, { readyToLose, gone }) {
    await readyToLose()
    await gone
    response.sendFile(file)
  },
  'amid a stream that is piped'(response, moment) {
    Readable.from(inTwo(moment)).pipe(response)
  },
  'amid a pipeline': (response, moment) => pipeline(Readable.from(inTwo(moment)), response),
}

describe('a client that hangs up', () => {
  for (const [when, answer] of Object.entries(answers)) {
    it(`${when}: the answer is stored whole`, async (t) => {
      const stop = gate()
      let runs = 0
      const app = express().set('env', 'test')
      const route = idempotent(idempotency, { operation: 'hang-up', principal })
      app.post('/', route, async (req, res) => {
        runs += 1
        const { tx, context } = route.of(req)
        await tx.insertInto('notes').values({ key: context.key, body: 'note' }).execute()
        const gone = once(req.socket, 'close')
        await answer(res.type('text/plain'), { gone, readyToLose: () => stop.pass() })
      })
      const url = await served(t, app)
      const headers = { 'idempotency-key': `"${when}"` }
      const sent = request(url, { method: 'POST', headers })
      sent.on('error', () => undefined).end()
      await stop.reached
      sent.destroy()
      stop.open()
      let seen = await fetch(url, { method: 'POST', headers })
      // Until the first has ended, which nobody waits for any more.
      while (seen.status === 409) seen = await fetch(url, { method: 'POST', headers })
      deepStrictEqual([seen.status, seen.headers.get('idempotent-replayed')], [200, 'true'])
      strictEqual(await seen.text(), content)
      strictEqual(runs, 1)
    })
  }

  it('is told of to the middlewares in front', async (t) => {
    const stop = gate()
    const heard: string[] = []
    const app = express().set('env', 'test')
    const route = idempotent(idempotency, { operation: 'hang-up', principal })
    const closed = Promise.withResolvers<undefined>()
    app.use((_req, res, next) => {
      res.on('close', () => {
        heard.push('close')
        closed.resolve(undefined)
      })
      next()
    })
    app.post('/', route, async (req, res) => {
      const gone = once(req.socket, 'close')
      await stop.pass()
      await gone
      heard.push('answered')
      res.send('made')
    })
    const url = await served(t, app)
    const sent = request(url, { method: 'POST', headers: { 'idempotency-key': '"in front"' } })
    sent.on('error', () => undefined).end()
    await stop.reached
    sent.destroy()
    stop.open()
    await closed.promise
    deepStrictEqual(heard, ['answered', 'close'])
  })
})
