import { CamelCasePlugin, ParseJSONResultsPlugin } from 'kysely'

import { testDatabase } from '../support/database.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { conformance } from './behaviours.ts'

const database = testDatabase()
const proxy = wireProxy(database.url)

conformance({
  name: 'CamelCasePlugin and ParseJSONResultsPlugin',
  schema: 'idem',
  proxy,
  connect: ({ applicationName, url } = {}) =>
    database.connect({
      schema: null,
      plugins: [new ParseJSONResultsPlugin(), new CamelCasePlugin()],
      application_name: applicationName ?? 'host',
      ...(url !== undefined && { connectionString: url }),
    }),
  watcher: () => database.watcher,
})
