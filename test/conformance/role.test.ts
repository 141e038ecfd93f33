import { randomBytes } from 'node:crypto'
import { after, describe } from 'node:test'

import { sql } from 'kysely'
import { grantStatements } from 'oncely/migrations'

import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { conformance } from './behaviours.ts'

const database = testDatabase()
const proxy = wireProxy(database.url)
// Roles belong to the whole server, which other runs may use too.
const role = `oncely_role_${randomBytes(4).toString('hex')}`

/** What a careful administrator makes the defaults of an application's role. */
const settings = {
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  statement_timeout: '1s',
  idle_in_transaction_session_timeout: '4s',
  lock_timeout: '7s',
}

let prepared: Promise<void> | undefined

async function makeRole(): Promise<void> {
  await sql`create role ${sql.id(role)} login password 'secret'`.execute(database.watcher)
  for (const [name, value] of Object.entries(settings)) {
    await sql`alter role ${sql.id(role)} set ${sql.id(name)} = ${sql.lit(value)}`.execute(
      database.watcher,
    )
  }
  for (const statement of grantStatements({ role, sweeper: true })) {
    await sql.raw(statement).execute(database.watcher)
  }
}
describe('a role of its own', () => {
  // Before the database goes, with what is granted there.
  after(async () => {
    const name = sql.id(role)
    await sql`drop owned by ${name}; drop role ${name}`.execute(database.watcher)
  })

  for (const name of ['plain', 'oncelyDialect'] as const) {
    conformance({
      name: `a role with strict defaults, ${name}`,
      schema: 'idem',
      settings,
      prepare: () => (prepared ??= makeRole()),
      proxy,
      connect: ({ applicationName, url = database.url } = {}) =>
        database.connect({
          schema: null,
          manners: hosts[name],
          application_name: applicationName ?? 'host',
          connectionString: Object.assign(new URL(url), { username: role, password: 'secret' })
            .href,
        }),
      watcher: () => database.watcher,
    })
  }
})
