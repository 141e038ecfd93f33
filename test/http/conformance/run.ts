import { randomUUID } from 'node:crypto'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import type { TestDatabase } from '../../support/database.ts'
import type { NotesHost } from '../../support/notes-host.ts'
import type { Check } from './check.ts'
import type { Adapter, Server } from './server.ts'

/** Runs one check against one adapter, on servers and keys of its own. */
export async function runCheck(
  { run }: Check,
  adapter: Adapter,
  database: TestDatabase,
  host: NotesHost,
): Promise<void> {
  const db = host.connect()
  await sql`create table if not exists notes_later (
    key text, constraint later unique (key) deferrable initially deferred,
    refused boolean default true references idem.uncommittable deferrable initially deferred
  )`.execute(db)
  const servers: Server[] = []
  const prefix = randomUUID().slice(0, 8)
  const idempotency = createIdempotency(db)
  try {
    await run({
      adapter,
      idempotency,
      key: (name) => `${prefix} ${name}`,
      notes: async (key) => (await host.left(key)).notes.length,
      async serve(handler, { parser, onError, idempotency: own, ...route } = {}) {
        const server = await adapter.start({
          idempotency: own ?? idempotency,
          handler,
          route,
          ...(parser !== undefined && { parser }),
          ...(onError && { onError }),
        })
        servers.push(server)
        return server
      },
    })
  } finally {
    for (const server of servers) await server.close()
  }
}
