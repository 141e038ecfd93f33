import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What the page is asked to do. */
export interface Task {
  readonly id: number
  readonly name: string
  readonly given: readonly unknown[]
}

/** What the page says of a task. */
export type Told = { readonly id: number } & (
  { readonly value: unknown } | { readonly error: string }
)

/** Serves a page and its script, hands it tasks, and hears what came of them. */
export interface PageServer {
  readonly port: number
  /** Resolves with what came of it. */
  ask(name: string, given: readonly unknown[]): Promise<unknown>
  /** Lets the page go and come again; resolves when it is there. Whatever was asked before is left undone. */
  reload(): Promise<void>
  /** Lets everything fail that is asked. */
  fail(error: Error): void
  close(): Promise<void>
}

const html =
  '<!doctype html><meta charset="utf-8"><title>Orders</title><script type="module" src="/page.js"></script>'

export async function startPageServer(script: string): Promise<PageServer> {
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  const tasks: Task[] = []
  let last = 0
  /** The page that waits for its next task. */
  let waiting: ServerResponse | undefined
  let comes = Promise.withResolvers<undefined>()
  let failed: Error | undefined

  const handOut = () => {
    const task = waiting && tasks.shift()
    if (!task) return
    waiting?.end(JSON.stringify(task))
    waiting = undefined
  }
  const server = createServer((request, response) => {
    response.setHeader('cache-control', 'no-store')
    switch (request.url) {
      case '/':
        response.setHeader('content-type', 'text/html').end(html)
        break
      case '/page.js':
        response.setHeader('content-type', 'text/javascript').end(script)
        break
      case '/task':
        waiting = response
        comes.resolve(undefined)
        handOut()
        break
      case '/told':
        void text(request).then((content) => {
          const told = JSON.parse(content) as Told
          if ('error' in told) asked.get(told.id)?.reject(new Error(told.error))
          else asked.get(told.id)?.resolve(told.value)
          asked.delete(told.id)
          response.end()
        })
        break
      case '/moved':
        response.writeHead(303, { location: '/' }).end()
        break
      default:
        response.writeHead(404).end()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A hook that fails keeps the others from running, and then this one must not keep the process.
  server.unref()
  server.on('connection', (socket) => socket.unref())

  const give = (name: string, given: readonly unknown[]) => {
    last += 1
    const answer = Promise.withResolvers<unknown>()
    asked.set(last, answer)
    if (failed) answer.reject(failed)
    tasks.push({ id: last, name, given })
    handOut()
    return answer.promise
  }
  return {
    port: (server.address() as AddressInfo).port,
    ask: give,
    async reload() {
      await comes.promise
      comes = Promise.withResolvers()
      const left = give('reload', [])
      // A page that is let go says no more.
      await Promise.race([comes.promise, left])
      for (const { reject } of asked.values()) reject(new Error('the page was let go'))
      asked.clear()
    },
    fail(error) {
      failed = error
      for (const { reject } of asked.values()) reject(error)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
