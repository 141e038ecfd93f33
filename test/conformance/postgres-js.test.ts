import { after } from 'node:test'

import { oncelyDialect } from 'oncely/pg'
import type { Sql } from 'postgres'

import { testDatabase } from '../support/database.ts'
import { conformance } from './behaviours.ts'
import { postgresJsHost } from './postgres-js-host.ts'

const database = testDatabase()
const pools: Sql[] = []
const processEnds = 'postgres.js ends the process: postgres-js-limits.test.ts'

after(() => Promise.all(pools.map((pool) => pool.end())))

for (const [name, wrap] of [
  ['plain', undefined],
  ['oncelyDialect', oncelyDialect],
] as const) {
  conformance({
    name: `postgres.js ${name}`,
    schema: 'idem',
    connect({ url = database.url, ...connection } = {}) {
      const { db, pool } = postgresJsHost(url, connection, { wrap })
      pools.push(pool)
      return db
    },
    watcher: () => database.watcher,
    cannot: {
      'a COMMIT that took effect, its answer lost: executed, recovered, and replayed': processEnds,
      'a COMMIT lost on its way: the definite error, and the key is free': processEnds,
      'a refusal whose COMMIT took effect, its answer lost: rejected, recovered': processEnds,
    },
  })
}
