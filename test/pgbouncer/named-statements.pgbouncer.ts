import { notStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { Pool } from 'pg'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { cannotTrackStatements } from '../support/pgbouncer-server.ts'
import { openBackends } from './clients.ts'

const database = testDatabase()
const single = pgBouncer(database.url, { poolSize: 1 })
const double = pgBouncer(database.url, { poolSize: 2 })

const named = { name: 'a name', text: 'select pg_backend_pid() as pid' }

async function backendBy(pool: Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ pid: number }>(named)
  return rows[0]?.pid
}

const codeOf = async (call: Promise<unknown>) => ((await failureOf(call)) as { code: string }).code

// What the other files of this folder would see if the library named its statements.
describe('a named statement through transaction mode', { timeout: 60_000 }, () => {
  it('C13: is missing (26000) as soon as the client comes to another backend', async () => {
    await openBackends(double, database, 2)
    const client = database.pool({ connectionString: double.url(), max: 1 })
    await backendBy(client)
    strictEqual(await codeOf(backendBy(client)), '26000')
  })

  it('C13: is there already (42P05) when another client has prepared it on the backend', async () => {
    const clients = [1, 2].map(() => database.pool({ connectionString: single.url(), max: 1 }))
    const [one, two] = clients as [Pool, Pool]
    await backendBy(one)
    strictEqual(await codeOf(backendBy(two)), '42P05')
  })
})

const skip = cannotTrackStatements()
const tracking = skip
  ? undefined
  : pgBouncer(database.url, { poolSize: 2, maxPreparedStatements: 100 })

describe('a named statement that the pooler tracks', { timeout: 60_000, skip }, () => {
  it('C13: follows the client to another backend', async () => {
    if (!tracking) return
    await openBackends(tracking, database, 2)
    const client = database.pool({ connectionString: tracking.url(), max: 1 })
    notStrictEqual(await backendBy(client), await backendBy(client))
  })
})
