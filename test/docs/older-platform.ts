// A program on a platform without much of what Chrome 100, Safari 15.4 and Node 18 lack.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createIdempotentFetch } from 'oncely/client'

const newer: readonly (readonly [object, readonly string[]])[] = [
  [AbortSignal, ['any', 'timeout']],
  [Promise, ['withResolvers', 'try']],
  [Array, ['fromAsync']],
  [Array.prototype, ['toSorted', 'toReversed', 'toSpliced', 'with']],
  [Object, ['groupBy']],
  [Map, ['groupBy']],
  [ArrayBuffer.prototype, ['transfer', 'resize']],
  [Set.prototype, ['union', 'intersection', 'difference']],
]

const server = createServer((request, response) => {
  if (come.push(request.headers['idempotency-key']) === 1) response.writeHead(503).end()
  else response.writeHead(201).end('made')
}).listen(0, '127.0.0.1')
const come: unknown[] = []
await once(server, 'listening')
const { port } = server.address() as AddressInfo

// The platform's own fetch is loaded by a call, and may need them.
await fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())
come.length = 0
let removed = 0
for (const [owner, names] of newer) {
  for (const name of names) removed += Number(Reflect.deleteProperty(owner, name))
}
// Only pages that browsers trust have it.
Object.defineProperty(crypto, 'randomUUID', { value: undefined })

const send = createIdempotentFetch({ initialDelayMs: 0, maxDelayMs: 0 })
const { signal } = new AbortController()
const { response, attempts } = await send(`http://127.0.0.1:${port}/`, { method: 'POST', signal })
console.log(removed, response.status, attempts, new Set(come).size, 'any' in AbortSignal)
server.closeAllConnections()
server.close()
