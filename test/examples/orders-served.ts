import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { serve } from '@hono/node-server'
import type { Hono } from 'hono'

import type { TestDatabase } from '../support/database.ts'

export const onHono = (app: Hono) =>
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server

export async function listening(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const headersOf = (key: string, more: Record<string, string> = {}) => ({
  authorization: 'Bearer alice',
  'content-type': 'application/json',
  'idempotency-key': `"${key}"`,
  ...more,
})

export const tea = (amountMinor = 100) => JSON.stringify({ sku: 'TEA', amountMinor })

export const placedUnder = (database: TestDatabase, key: string) =>
  database.watcher
    .selectFrom('orders')
    .select('order_number')
    .where('idempotency_key', '=', key)
    .execute()
