import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'

import { type Kysely, sql, type Transaction } from 'kysely'
import { fingerprint, type Idempotency, type Resolution } from 'oncely'
import type { HttpCall, Principal } from 'oncely/http'
import type { z } from 'zod'

import { type OrdersDatabase, orderSchema, writeOrder } from './order.ts'

/** What a client of the service sends: the service numbers the orders. */
export const newOrderSchema = orderSchema.omit({ orderNumber: true })
export type NewOrder = z.output<typeof newOrderSchema>

/** What an answer says, whatever framework sends it. */
export interface Answer {
  readonly status: 200 | 201 | 402 | 404
  readonly body: Readonly<Record<string, unknown>>
  readonly location?: string
}

/** Who has which token. A service of yours has its own way to know its callers. */
const callers = new Map<string, Principal>([
  ['Bearer alice', { tenant: 'acme', actor: 'alice' }],
  ['Bearer bob', { tenant: 'acme', actor: 'bob' }],
])

export function callerOf(authorization: string | undefined): Principal | undefined {
  return callers.get(authorization ?? '')
}

/** What a caller may have ordered in all, in the minor unit of any currency. */
const CREDIT_MINOR = 100_000

/** Every field decides; they are validated and have their defaults by now. */
export function newOrderFingerprint(order: NewOrder) {
  return fingerprint(order, { version: 1 })
}

/** Should the record be lost, the table of orders still knows the key: the same order, once. */
export function ordersIdempotency(idempotency: Idempotency<OrdersDatabase>) {
  return idempotency.withOptions({
    businessIdentity: {
      constraint: 'orders_idempotency_key',
      async resolve(tx, { scope, key }): Promise<Resolution<Response> | undefined> {
        const order = await orderBy(tx)
          .where('tenant', '=', scope.tenant)
          .where('actor', '=', scope.actor)
          .where('operation', '=', scope.operation)
          .where('idempotency_key', '=', key)
          .executeTakeFirst()
        return order && { disposition: 'replay', value: Response.json(order) }
      },
    },
  })
}

/** What a demonstration asks for by headers. */
export interface Switches {
  /** How long the payment takes, which nobody should wait for in a transaction. */
  readonly slowMs: number
}

/** Places an order, in the transaction of its call. */
export async function createOrder(
  { tx, context }: HttpCall<OrdersDatabase>,
  order: NewOrder,
  { slowMs }: Switches,
): Promise<Answer> {
  const { tenant, actor } = context.scope
  // Two orders of one caller at once must not both have the last of the credit.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${tenant}/${actor}`}, 0))`.execute(tx)
  const { used } = await tx
    .selectFrom('orders')
    .where('tenant', '=', tenant)
    .where('actor', '=', actor)
    // Should its record be lost, an order that is there has been paid for.
    .where('idempotency_key', '<>', context.key)
    .select(sql<string>`coalesce(sum(amount_minor), 0)`.as('used'))
    .executeTakeFirstOrThrow()
  if (Number(used) + order.amountMinor > CREDIT_MINOR) {
    return context.reject({ status: 402, body: { code: 'credit_exceeded' } } as const)
  }
  if (slowMs > 0) await setTimeout(slowMs)
  const orderNumber = `O-${randomUUID().slice(0, 8).toUpperCase()}`
  await writeOrder(tx, context, { ...order, orderNumber })
  const body = await orderBy(tx).where('order_number', '=', orderNumber).executeTakeFirstOrThrow()
  return { status: 201, body, location: `/orders/${orderNumber}` }
}

/** One order of the caller's tenant. */
export async function findOrder(
  db: Kysely<OrdersDatabase>,
  { tenant }: Principal,
  orderNumber: string,
): Promise<Answer> {
  const body = await orderBy(db)
    .where('tenant', '=', tenant)
    .where('order_number', '=', orderNumber)
    .executeTakeFirst()
  return body ? { status: 200, body } : { status: 404, body: { code: 'order_unknown' } }
}

function orderBy(db: Kysely<OrdersDatabase> | Transaction<OrdersDatabase>) {
  return db
    .selectFrom('orders')
    .select(['order_number as orderNumber', 'sku', 'quantity', 'currency', 'status'])
    .select(sql<number>`amount_minor::float8`.as('amountMinor'))
}
