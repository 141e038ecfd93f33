import { randomUUID } from 'node:crypto'
import { beforeEach } from 'node:test'

import { type Generated, type Kysely, sql } from 'kysely'
import { fingerprint } from 'oncely'

import type { ConnectOptions, TestDatabase } from '../support/database.ts'
import { PATIENCE_MS } from '../support/notes-host.ts'
import { untilWaiting } from '../support/waiting.ts'

/** The tables of a shop that knows nothing of us. */
export interface ShopDatabase {
  orders: { number: string; sku: string; status: Generated<string> }
  items: { sku: string; stock: number }
  tokens: { token: string }
  /** Locks that end by themselves. */
  leases: { name: string; ends: Date }
}

export interface Shop {
  connect(options?: ConnectOptions): Kysely<ShopDatabase>
  /** Numbers of the orders that are committed; each test has an item of its own. */
  orders(sku: string): Promise<readonly string[]>
  /** How many records are committed under a key. */
  records(key: string): Promise<number>
  /** Waits until a session of an application is seen to wait for a lock. */
  untilWaiting(applicationName: string): Promise<void>
}

export const scope = { tenant: 't1', actor: 'u1', operation: 'orders.create' }
export const one = fingerprint({ order: 1 }, { version: 1 })
export const other = fingerprint({ order: 2 }, { version: 1 })

/** To be called once, behind `testDatabase`. */
export function shopOn(database: TestDatabase): Shop {
  const watcher = database.watcher
    .withSchema('public')
    .$extendTables<Pick<ShopDatabase, 'orders'>>()
  let created: Promise<unknown> | undefined

  // Not by `before`: those of a file run all at once, and this one needs the database.
  beforeEach(async () => {
    created ??= sql`
      create table public.orders (
        number text constraint orders_number primary key,
        sku text not null,
        status text not null default 'placed'
      );
      create table public.items (sku text primary key, stock int not null);
      create table public.tokens (token text primary key);
      create table public.leases (name text primary key, ends timestamptz not null)
    `.execute(watcher)
    await created
  })

  return {
    connect: (options) =>
      database.connect<ShopDatabase>({
        schema: null,
        statement_timeout: PATIENCE_MS,
        ...options,
      }),

    async orders(sku) {
      const rows = await watcher
        .selectFrom('orders')
        .select('number')
        .where('sku', '=', sku)
        .execute()
      return rows.map(({ number }) => number)
    },

    async records(key) {
      const of = database.watcher.selectFrom('records').select('key').where('key', '=', key)
      return (await of.execute()).length
    },

    async untilWaiting(applicationName) {
      await untilWaiting(watcher as unknown as Kysely<never>, applicationName)
    },
  }
}

/** Writes an order. Unless the caller gave it a number, it has a new one on every run. */
export async function writeOrder(
  db: Kysely<ShopDatabase>,
  sku: string,
  number: string = randomUUID(),
): Promise<{ number: string }> {
  await db.insertInto('orders').values({ number, sku }).execute()
  return { number }
}

/** Pays an order that is placed. */
export async function pay(db: Kysely<ShopDatabase>, number: string): Promise<bigint> {
  const { numUpdatedRows } = await db
    .updateTable('orders')
    .set({ status: 'paid' })
    .where('number', '=', number)
    .where('status', '=', 'placed')
    .executeTakeFirstOrThrow()
  return numUpdatedRows
}

/** Takes a token, if it is there. */
export async function takeToken(db: Kysely<ShopDatabase>, token: string): Promise<boolean> {
  const taken = await db
    .deleteFrom('tokens')
    .where('token', '=', token)
    .returning('token')
    .execute()
  return taken.length === 1
}

/** What a caller can see of a violated constraint. */
export function violation(failure: unknown) {
  const { code, constraint, detail, message } = failure as Record<string, unknown>
  return { code, constraint, detail, message }
}
