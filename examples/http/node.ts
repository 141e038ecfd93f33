import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { idempotent } from 'oncely/node'

import { callerOf, idempotency } from './idempotency.ts'

const principal = (req: IncomingMessage) => callerOf(req.headers['x-user-id']?.toString())
const once = idempotent(idempotency, { operation: 'orders.create', principal })

const listener = once(async (req: IncomingMessage, res: ServerResponse) => {
  const { tx, context, body } = once.of(req)
  const { sku } = JSON.parse(new TextDecoder().decode(body)) as { sku: string }
  const order = { id: context.childKey('order'), sku, cents: 1999 }
  await tx.insertInto('orders').values(order).execute()
  res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(order))
})
export const server = createServer((req, res) => {
  if (req.method === 'POST' && req.url === '/orders') void listener(req, res)
  else res.writeHead(404).end()
})
