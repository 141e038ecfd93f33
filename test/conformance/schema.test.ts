import { migrateToLatest } from 'oncely/migrations'

import { testDatabase } from '../support/database.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { conformance } from './behaviours.ts'

const database = testDatabase()
const proxy = wireProxy(database.url)
const schema = 'Weird Schema'
const watcher = database.connect({ schema, max: 1 })

conformance({
  name: `the schema ${schema}`,
  schema,
  prepare: () => migrateToLatest(database.connect({ schema: null, max: 1 }), { schema }),
  proxy,
  connect: ({ applicationName, url } = {}) =>
    database.connect({
      schema: null,
      application_name: applicationName ?? 'host',
      ...(url !== undefined && { connectionString: url }),
    }),
  watcher: () => watcher,
})
