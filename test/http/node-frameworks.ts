import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'node:test'

import express from 'express'
import type { Idempotency } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import type { EndpointOptions } from 'oncely/http'
import { idempotent as onNode } from 'oncely/node'

import type { NotesDatabase } from '../support/notes-host.ts'

export type Options = Omit<EndpointOptions<never>, 'operation' | 'principal' | 'fingerprint'>
export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

/** What serves a handler behind a note under the key, until the test is over. To be called once. */
export function nodeFrameworks(idempotency: Idempotency<NotesDatabase>) {
  const principal = () => ({ tenant: 't1', actor: 'u1' })
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close()
      server.closeAllConnections()
    }
  })

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

  /** @returns the URL of its own server. */
  return async function start(
    framework: keyof typeof frameworks,
    handle: Handle,
    options: Options = {},
  ): Promise<string> {
    const server = frameworks[framework](handle, options).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }
}
