// Every promise of an endpoint, on every framework, over real sockets.
import { describe, it } from 'node:test'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { checks } from './conformance/checks.ts'
import { runCheck } from './conformance/run.ts'
import { SUITE } from './conformance/suite.ts'

const database = testDatabase()
const host = notesHost(database)

for (const adapter of adapters) {
  describe(SUITE + adapter.name, () => {
    for (const check of checks) {
      const reason = check.needs && adapter.without[check.needs]
      it(check.name, { skip: reason ?? false }, () => runCheck(check, adapter, database, host))
    }
  })
}
