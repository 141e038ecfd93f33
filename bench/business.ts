import { randomUUID } from 'node:crypto'

import { type Kysely, sql } from 'kysely'

import { fingerprint } from '../src/index.ts'
import type { KeyTables } from './key-tables.ts'

/** The tables that the variants write, the host's and ours; a name with a dot is in a schema. */
export interface Tables extends KeyTables {
  bench_orders: { id: string; tenant: string; sku: string; amount_minor: number }
  bench_order_lines: { id: string; order_id: string; sku: string; quantity: number }
  'idem.outbox': {
    id: string
    tenant: string
    aggregatetype: string
    aggregateid: string
    type: string
    payload: string
    headers: string
  }
}

export async function createBusinessTables(db: Kysely<Tables>): Promise<void> {
  await sql`create table bench_orders
      (id uuid primary key, tenant text not null, sku text not null, amount_minor bigint not null);
    create table bench_order_lines
      (id uuid primary key, order_id uuid not null, sku text not null, quantity int not null)`.execute(
    db,
  )
}

/** Of every call: it is made once, so that it is not what is measured. */
export const print = fingerprint({ sku: 'A-1', quantity: 2 }, { version: 1 })
/** The same key with these parameters is a conflict. */
export const otherPrint = fingerprint({ sku: 'A-1', quantity: 3 }, { version: 1 })

export interface Order {
  readonly id: string
}

/** The business function of every variant: two inserts, a turn each. */
export async function placeOrder(tx: Kysely<Tables>, tenant: string): Promise<Order> {
  const id = randomUUID()
  await tx
    .insertInto('bench_orders')
    .values({ id, tenant, sku: 'A-1', amount_minor: 1_999 })
    .execute()
  await tx
    .insertInto('bench_order_lines')
    .values({ id: randomUUID(), order_id: id, sku: 'A-1', quantity: 2 })
    .execute()
  return { id }
}

/** The event that goes with it. */
export function eventOf(order: Order) {
  return {
    type: 'order.created',
    aggregateType: 'order',
    aggregateId: order.id,
    payload: { orderId: order.id, sku: 'A-1', quantity: 2 },
  }
}

/** The same event as a row of the outbox. */
export function eventRow(order: Order, tenant: string): Tables['idem.outbox'] {
  const { type, aggregateType, aggregateId, payload } = eventOf(order)
  return {
    id: randomUUID(),
    tenant,
    type,
    aggregatetype: aggregateType,
    aggregateid: aggregateId,
    payload: JSON.stringify(payload),
    headers: '{}',
  }
}

export async function insertEvent(tx: Kysely<Tables>, order: Order, tenant: string): Promise<void> {
  await tx.insertInto('idem.outbox').values(eventRow(order, tenant)).execute()
}
