// Twenty ways in which a server fails a client that has sent an order to it.
import type { ServerResponse } from 'node:http'

import { answering, cut, hang, problem, type Step } from './scripted-server.ts'

/** Lets the service answer, and does something else with its answer, which is committed by then. */
function behind(pass: Step, send: (response: ServerResponse, content: Buffer) => unknown): Step {
  return (request, response) => {
    const chunks: Buffer[] = []
    response.write = (chunk: Uint8Array) => chunks.push(Buffer.from(chunk)) > 0
    const end = response.end.bind(response)
    response.end = ((chunk?: Uint8Array | string) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
      response.end = end
      Reflect.deleteProperty(response, 'write')
      send(response, Buffer.concat(chunks))
      return response
    }) as never
    return pass(request, response)
  }
}

/** Writes octets in the place of an answer. */
const raw =
  (text: string): Step =>
  ({ socket }) =>
    socket.end(text)

const inThePast = new Date(Date.now() - 60_000).toUTCString()

/** @param pass - what the service does with a request. The last step of each way is that. */
export function waysToFail(pass: Step): Readonly<Record<string, readonly Step[]>> {
  const lost = behind(pass, ({ socket }) => socket?.destroy())
  const half = behind(pass, (response, content) => {
    response.setHeader('content-length', content.length)
    response.write(content.subarray(0, 5), () => response.socket?.destroy())
  })
  const stalled = behind(pass, (response, content) => {
    response.setHeader('content-length', content.length)
    response.write(content.subarray(0, 5))
  })
  const silent = behind(pass, () => undefined)
  const soon = { 'retry-after': '0' }
  return {
    'cuts before': [cut],
    'cuts before, three times': [cut, cut, cut],
    'cuts behind the commit': [lost],
    'cuts behind the commit, and before the retry': [lost, cut],
    'cuts behind each of two commits': [lost, lost],
    'cuts amid the answer': [half],
    'hangs before': [hang],
    'hangs behind the commit': [silent],
    'hangs amid the answer': [stalled],
    'says 503': [answering(503)],
    'says 503 with a date': [answering(503, { 'retry-after': inThePast })],
    'says 503 with seconds, behind the commit': [
      behind(pass, (response) => {
        response.writeHead(503, { ...soon, 'content-length': '0' }).end()
      }),
    ],
    'says 409 as long as the first is under way': [
      ...Array.from({ length: 8 }, () => problem(409, 'request_outstanding', soon)),
    ],
    'says 429 with seconds': [answering(429, soon), answering(429, soon)],
    'says 500, 502 and 504': [answering(500), answering(502), answering(504)],
    'says 408': [answering(408, { connection: 'close' })],
    'says 425': [answering(425)],
    'says that nobody knows, then that it is unavailable': [
      problem(503, 'outcome_unknown', soon),
      problem(503, 'unavailable', soon),
    ],
    'says something that is no HTTP': [raw('SSH-2.0-OpenSSH\r\n')],
    'says half of a head': [raw('HTTP/1.1 201 Created\r\ncontent-le')],
  }
}
