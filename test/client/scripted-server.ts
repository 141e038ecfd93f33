import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'

/** What a server does with one request. */
export type Step = (request: IncomingMessage, response: ServerResponse) => unknown

/** A server that does with each request what its script says, and with those behind it the last of them. */
export interface ScriptedServer {
  /** Of this script, without a slash at its end. */
  readonly url: string
  /** Says what is to be done from now on. */
  play(...steps: Step[]): void
  /** What has come since then. */
  readonly requests: readonly IncomingMessage[]
}

/** To be called at the top of a test file: it listens while its tests run. */
export function scriptedServer(): ScriptedServer {
  let steps: Step[] = []
  let requests: IncomingMessage[] = []
  let played = 0
  const server: Server = createServer((request, response) => {
    const [start = '', number] = /^\/(\d+)/.exec(String(request.url)) ?? []
    // Of a client that a test has left behind.
    if (Number(number) !== played) return void request.socket.destroy()
    request.url = String(request.url).slice(start.length)
    const step = steps[Math.min(requests.length, steps.length - 1)]
    requests.push(request)
    step?.(request, response)
  })
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    get url() {
      const { port } = server.address() as AddressInfo
      return `http://127.0.0.1:${port}/${played}`
    },
    play(...given) {
      played += 1
      steps = given
      requests = []
    },
    get requests() {
      return requests
    },
  }
}

/** Answers by a status, and no content unless it is given. */
export function answering(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  content = '',
): Step {
  return (_request, response) => response.writeHead(status, headers).end(content)
}

/** Answers as our endpoints do. */
export function problem(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Step {
  const type = { 'content-type': 'application/problem+json' }
  return answering(status, { ...type, ...headers }, JSON.stringify({ code, status }))
}

/** Cuts the connection, and has done nothing. */
export const cut: Step = ({ socket }) => socket.destroy()

/** Never answers. */
export const hang: Step = () => undefined
