import { once } from 'node:events'

import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Kysely } from 'kysely'

import { ordersOnHono } from '../../examples/orders/hono.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import type { TestDatabase } from '../support/database.ts'
import { listening, onHono } from '../examples/orders-served.ts'

type Cors = NonNullable<Parameters<typeof cors>[0]>

/** What pages of another origin are to be allowed, so that `oncely/client` has all it can use. */
export const allowing = (origin: string) => ({
  origin,
  allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-demo-lose-response'],
  exposeHeaders: ['idempotent-replayed', 'idempotency-key-retention', 'retry-after', 'link'],
})

/** What came to the server. */
export interface Come {
  readonly method: string
  /** `Idempotency-Key`, as it was sent. */
  readonly key: string | undefined
}

export interface OrdersServerOptions {
  /** Undefined for a service that has never heard of it. */
  readonly cors: Cors | undefined
  /** Is waited for in front of a request that writes, the first of which has number 1. */
  readonly inFront?: (number: number) => unknown
  /** Is waited for behind one, when it is committed and not yet answered. */
  readonly behind?: (number: number) => unknown
  /** Takes the headers of CORS from whatever is no preflight, as a server does that has forgotten them there. */
  readonly forgets?: boolean
  /** Whether a connection is closed behind each answer. */
  readonly closes?: boolean
}

/** The orders service behind a middleware for CORS, on a port of its own. */
export interface OrdersServer extends AsyncDisposable {
  readonly url: string
  readonly come: readonly Come[]
  /** The keys of those that write. */
  keys(): (string | undefined)[]
}

export async function ordersServer(
  db: Kysely<OrdersDatabase>,
  { cors: given, inFront, behind, forgets = false, closes = false }: OrdersServerOptions,
): Promise<OrdersServer> {
  const come: Come[] = []
  const keys = () => come.filter(({ method }) => method === 'POST').map(({ key }) => key)
  const app = new Hono()
  app.use(async (c, next) => {
    const { method } = c.req
    come.push({ method, key: c.req.header('idempotency-key') })
    const number = keys().length
    if (method === 'POST') await inFront?.(number)
    await next()
    if (method === 'POST') await behind?.(number)
    if (closes) c.header('connection', 'close')
    if (forgets && method !== 'OPTIONS') c.header('access-control-allow-origin', undefined)
  })
  if (given) app.use(cors(given))
  app.route('/', ordersOnHono(db) as never)
  const server = onHono(app)
  const url = `${await listening(server)}/orders`
  return {
    url,
    come,
    keys,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** The keys of the orders of one article, which a test has to itself. */
export async function ordered({ watcher }: TestDatabase, sku: string): Promise<string[]> {
  const rows = await watcher
    .selectFrom('orders')
    .select('idempotency_key')
    .where('sku', '=', sku)
    .execute()
  return rows.map((row) => row.idempotency_key)
}

/** How many keys are known, of all tests of a file. */
export async function countRecords({ watcher }: TestDatabase): Promise<number> {
  const { count } = await watcher
    .selectFrom('records')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
