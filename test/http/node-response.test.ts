// What Node's frameworks do with a response, and what becomes of it while nothing is sent.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, describe, it } from 'node:test'

import express from 'express'
import { createIdempotency } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import type { EndpointOptions } from 'oncely/http'
import { idempotent as onNode } from 'oncely/node'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())
const principal = () => ({ tenant: 't1', actor: 'u1' })
const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

type Options = Omit<EndpointOptions<never>, 'operation' | 'principal' | 'fingerprint'>
type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

/** The same handler on both, behind a note under the key. */
const frameworks = {
  node(handle: Handle, options: Options) {
    const onError = () => undefined
    const once = onNode(idempotency, { operation: 'node', principal, onError, ...options })
    const listener = once(async (req: IncomingMessage, res: ServerResponse) => {
      const { tx, context } = once.of(req)
      await tx.insertInto('notes').values({ key: context.key, body: 'note' }).execute()
      await handle(Object.assign(req, { tx }), res)
    })
    return createServer((req, res) => {
      if (req.method === 'GET') res.end('alive')
      else void listener(req, res)
    })
  },
  express(handle: Handle, options: Options) {
    const once = onExpress(idempotency, { operation: 'express', principal, ...options })
    const app = express().set('env', 'test')
    app.get('/', (_req, res) => {
      res.send('alive')
    })
    app.post('/', once, async (req, res) => {
      const { tx, context } = once.of(req)
      await tx.insertInto('notes').values({ key: context.key, body: 'note' }).execute()
      await handle(Object.assign(req, { tx }), res)
    })
    return createServer(app)
  },
}

for (const [framework, serve] of Object.entries(frameworks)) {
  const started = async (handle: Handle, options: Options = {}) => {
    const server = serve(handle, options).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }
  const post = (url: string, key: string) =>
    fetch(url, { method: 'POST', headers: { 'idempotency-key': `"${key} ${framework}"` } })
  const notes = async (key: string) => (await host.left(`${key} ${framework}`)).notes.length

  describe(`a response of Node that is taken, ${framework}`, () => {
    it('can be waited for by its handler, which is behind the commit', async () => {
      const url = await started((_req, res) => pipeline(Readable.from(['a', 'b']), res))
      strictEqual(await (await post(url, 'pipeline')).text(), 'ab')
      const later = await started(async (_req, res) => {
        res.end('x')
        await once(res, 'finish')
      })
      strictEqual(await (await post(later, 'finish')).text(), 'x')
    })

    it('calls whoever waits for its end once, when it is sent', async () => {
      const sent: boolean[] = []
      const isCalled = Promise.withResolvers<undefined>()
      const url = await started((_req, res) => {
        res.end('x', () => {
          sent.push(res.headersSent)
          isCalled.resolve(undefined)
        })
      })
      await (await post(url, 'called')).text()
      await isCalled.promise
      deepStrictEqual(sent, [true])
    })

    it('keeps every header of writeHead, in whatever form', async () => {
      const forms: readonly unknown[][] = [
        [201, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']],
        [201, 'Made', [['Set-Cookie', ['a=1', 'b=2']]]],
        [201, undefined, { 'Set-Cookie': ['a=1', 'b=2'] }],
      ]
      for (const [at, form] of forms.entries()) {
        const url = await started((_req, res) => {
          Reflect.apply(res.writeHead.bind(res), res, form)
          res.end()
        })
        const { status, headers } = await post(url, `head ${at}`)
        deepStrictEqual([status, headers.getSetCookie()], [201, ['a=1', 'b=2']])
      }
    })

    it('of which Node would refuse something is refused before the commit', async () => {
      const url = await started((_req, res) => {
        res.statusMessage = 'größer ✓'
        res.end('x')
      })
      strictEqual((await post(url, 'message')).status, 500)
      strictEqual(await notes('message'), 0)
    })

    it('that is destroyed gives the key back at once', async () => {
      let runs = 0
      const url = await started((_req, res) => {
        runs += 1
        if (runs > 1) return res.end('made')
        res.write('half')
        return res.destroy()
      })
      await post(url, 'destroyed').catch(() => undefined)
      let seen = await post(url, 'destroyed')
      while (seen.status === 409) seen = await post(url, 'destroyed')
      deepStrictEqual([await seen.text(), await notes('destroyed')], ['made', 1])
    })

    it('leaves its connection to the next request where the handler comes too late', async () => {
      let late: (() => void) | undefined
      const isLate = new Promise<void>((resolve) => (late = resolve))
      const url = await started(
        async (req) => {
          await isLate
          // Of a transaction that is over.
          await (req as unknown as { tx: { executeQuery: unknown } }).tx.executeQuery
          throw new Error('too late')
        },
        { deadlineMs: 100 },
      )
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const send = async (method: string) => {
        const headers = { 'idempotency-key': `"late ${framework}"` }
        const sent = request(url, { method, agent, headers }).end()
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        const texts = await response.setEncoding('utf8').toArray()
        return [response.statusCode, texts.join('')]
      }
      strictEqual((await send('POST'))[0], 503)
      const next = send('GET')
      late?.()
      deepStrictEqual(await next, [200, 'alive'])
      deepStrictEqual(await send('GET'), [200, 'alive'])
      agent.destroy()
    })

    it('that was answered is sent although its handler throws behind, or nothing is committed', async () => {
      const url = await started((_req, res) => {
        res.end('made')
        throw new Error('own')
      })
      const { status } = await post(url, 'behind')
      deepStrictEqual([status, await notes('behind')], framework === 'node' ? [500, 0] : [200, 1])
    })
  })
}
