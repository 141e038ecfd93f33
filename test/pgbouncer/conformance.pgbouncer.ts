// The behaviours that every host is tried by, through the pooler. Nothing in them is beyond it.
import { describe } from 'node:test'

import { conformance } from '../conformance/behaviours.ts'
import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const proxy = wireProxy(database.url)
const pooler = pgBouncer(database.url, { poolSize: 4 })

describe('through PgBouncer', { timeout: 60_000 }, () => {
  /** One whose server connections are lost at COMMIT. */
  const losing = pgBouncer(proxy.url, { poolSize: 2 })

  for (const name of ['plain', 'oncelyDialect', 'pipelining'] as const) {
    conformance({
      name: `pg through PgBouncer, ${name}`,
      schema: 'idem',
      proxy,
      connect: ({ applicationName, url } = {}) =>
        database.connect({
          schema: null,
          manners: hosts[name],
          application_name: applicationName ?? 'host',
          connectionString: url === undefined ? pooler.url() : losing.url(),
        }),
      watcher: () => database.watcher,
    })
  }
})
