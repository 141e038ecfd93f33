import { createServer, type RequestListener } from 'node:http'
import { afterEach, type TestContext } from 'node:test'

import type { Idempotency } from 'oncely'

import type { Shape } from '../../src/shape.ts'
import type { NotesDatabase } from '../support/notes-host.ts'
import { listening } from './conformance/adapters/parts.ts'
import type { Adapter, Server, ServerOptions } from './conformance/server.ts'

/** How a server is to be, by an instance with whatever options. */
interface Options extends Omit<ServerOptions, 'idempotency'> {
  readonly idempotency: Idempotency<NotesDatabase, Shape>
}

/** Starts a server of an adapter, or takes one that is started. */
type Serve = (server: Promise<Server> | Adapter, options?: Options) => Promise<Server>

/** To be called at the top of a test file: each server is closed behind the test that it is of. */
export function servers(): Serve {
  const open: Server[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close()
  })
  return async (given, options) => {
    const server = await ('start' in given ? given.start(options as never) : given)
    open.push(server)
    return server
  }
}

/** @returns the URL of a server of its own, which is closed behind the test. */
export async function served(t: TestContext, listener: RequestListener): Promise<string> {
  const server = await listening(createServer(listener).listen(0, '127.0.0.1'))
  t.after(() => server.close())
  return `${server.url}/`
}
