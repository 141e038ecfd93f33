// Every promise of an endpoint, on every framework, over real sockets.
import { describe, it } from 'node:test'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { suiteOf } from './conformance/check.ts'
import { checks } from './conformance/checks.ts'
import { runCheck } from './conformance/run.ts'

const database = testDatabase()
const host = notesHost(database)

for (const adapter of adapters) {
  describe(suiteOf(adapter), () => {
    for (const check of checks) {
      const reason = check.needs && adapter.without[check.needs]
      it(check.name, { skip: reason ?? false }, () => runCheck(check, adapter, database, host))
    }
  })
}
