import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { conformance } from './behaviours.ts'

const database = testDatabase()
const proxy = wireProxy(database.url)

for (const name of ['plain', 'oncelyDialect', 'pipelining'] as const) {
  conformance({
    name: `pg ${name}`,
    schema: 'idem',
    proxy,
    connect: ({ applicationName, url } = {}) =>
      database.connect({
        schema: null,
        manners: hosts[name],
        application_name: applicationName ?? 'host',
        ...(url !== undefined && { connectionString: url }),
      }),
    watcher: () => database.watcher,
  })
}
