// `npm run demo:http`: the orders service on an address of this machine, with an embedded PostgreSQL,
// and what to send to it.
import { randomUUID } from 'node:crypto'

import { serve } from '@hono/node-server'
import { Kysely, PostgresDialect } from 'kysely'
import { migrateToLatest } from 'oncely/migrations'
import { guardPool, oncelyDialect } from 'oncely/pg'
import { Pool } from 'pg'

import { startEmbeddedServer } from '../../test/support/embedded-server.ts'
import { ordersOnHono } from '../orders/hono.ts'
import type { OrdersDatabase } from '../orders/order.ts'
import { curlLines } from './curl-lines.ts'

const server = await startEmbeddedServer()
const pool = guardPool(new Pool({ connectionString: server.url, max: 10 }))
const db = new Kysely<OrdersDatabase>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
await migrateToLatest(db, { withOrders: true })

const { fetch } = ordersOnHono(db.withSchema('idem'))
const http = serve({ fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  const url = `http://127.0.0.1:${port}`
  console.log(`orders on ${url}, until Ctrl+C\n`)
  for (const [what, line] of curlLines(url, randomUUID(), randomUUID())) {
    console.log(`# ${what}\n${line}\n`)
  }
  console.log("With -H 'x-demo-lose-response: 1' the first answer is lost behind its commit: add")
  console.log('--retry 1 --retry-all-errors, and see that the retry is a replay.')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    http.close()
    void db.destroy().then(() => server.stop())
  })
}
