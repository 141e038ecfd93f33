// What Node's frameworks do with a response, and what becomes of it while nothing is sent.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { type Handle, nodeFrameworks, type Options } from './node-frameworks.ts'

const database = testDatabase()
const host = notesHost(database)
const start = nodeFrameworks(createIdempotency(host.connect()))

for (const framework of ['node', 'express'] as const) {
  const started = (handle: Handle, options?: Options) => start(framework, handle, options)
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

    it('keeps the status of its head, whatever it is set to behind it', async () => {
      const url = await started((_req, res) => {
        res.writeHead(201)
        res.write('a')
        res.statusCode = 500
        res.end('b')
      })
      for (const replayed of [null, 'true']) {
        const seen = await post(url, 'status')
        deepStrictEqual([seen.status, await seen.text()], [201, 'ab'])
        strictEqual(seen.headers.get('idempotent-replayed'), replayed)
      }
    })

    it('refuses a header and a chunk as Node does, and is then answered by whoever hears of it', async () => {
      for (const [name, answer] of [
        ['header', (_req, res) => res.writeHead(200, { 'x-a': undefined })],
        ['chunk', (_req, res) => res.end([1, 2])],
        ['view', (_req, res) => res.write(new Uint16Array([258]))],
      ] as [string, Handle][]) {
        const url = await started(answer)
        strictEqual((await post(url, name)).status, 500, name)
        strictEqual(await notes(name), 0)
      }
    })

    it('keeps the lines of a name that is written in two ways', async () => {
      const url = await started((_req, res) => {
        res.writeHead(200, ['Set-Cookie', 'a=1', 'set-cookie', 'b=2']).end()
      })
      deepStrictEqual((await post(url, 'cases')).headers.getSetCookie(), ['a=1', 'b=2'])
    })

    it('of a range says which also when it is replayed', async () => {
      const url = await started((_req, res) => {
        res.writeHead(206, { 'content-range': 'bytes 0-1/9', vary: 'range' }).end('ab')
      })
      for (const _ of ['first', 'replay']) {
        const { headers } = await post(url, 'range')
        deepStrictEqual(
          [headers.get('content-range'), headers.get('vary')],
          ['bytes 0-1/9', 'range'],
        )
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
