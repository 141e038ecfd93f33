// What the adapters have in common.
import { once } from 'node:events'
import type { Server as NodeServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

import type { Answer, Server } from '../server.ts'

export const operation = 'things.make'

/** Why a handler cannot answer twice, or before it ends. */
export const isReturned = 'what a handler returns is its answer'

export const never = new Promise<never>(() => undefined)

/** Once it listens, on a port that is free. */
export async function listening(server: NodeServer): Promise<Server> {
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function responseOf({ status = 200, headers = [], body, stream }: Answer): Response {
  const bytes = stream?.map((text) => new TextEncoder().encode(text))
  const lines = headers.map(([name, value]): [string, string] => [name, value])
  const content = bytes ? (ReadableStream.from(bytes) as ReadableStream) : (body ?? null)
  return new Response(content, { status, headers: lines })
}

export function end(response: ServerResponse, answer: Answer): void {
  const { status = 200, headers = [], body, stream } = answer
  response.statusCode = status
  for (const [name, value] of headers) response.appendHeader(name, value)
  if (stream) Readable.from(stream).pipe(response)
  else response.end(body)
}

/** What a parser has left of a content: its octets, or a value. */
export function contentOf(body: unknown): string {
  return Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body)
}
