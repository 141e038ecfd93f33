import { after, describe } from 'node:test'

import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import { migrateToLatest } from 'oncely/migrations'
import { oncelyDialect } from 'oncely/pg'

import type { DB } from '../../codegen/db.ts'
import type { NotesDatabase } from '../support/notes-host.ts'
import { conformance } from './behaviours.ts'
import { pgliteLimits } from './pglite-limits.ts'

const pglite = new PGlite()
const dialect = new PGliteDialect({ pglite })
const watcher = new Kysely<DB>({ dialect })
const oneSession = 'PGlite has one session, and nobody beside it'
const noLink = 'PGlite is in the process: there is no link to lose'

after(() => pglite.close())

for (const [name, wrap] of [
  ['plain', undefined],
  ['oncelyDialect', oncelyDialect],
] as const) {
  conformance({
    name: `PGlite ${name}`,
    schema: 'idem',
    prepare: () => migrateToLatest(watcher),
    connect: () => new Kysely<NotesDatabase>({ dialect: wrap ? wrap(dialect) : dialect }),
    watcher: () => watcher.withSchema('idem'),
    cannot: {
      'at once: the second waits for the first, and replays it': oneSession,
      'at once: in_progress for who does not wait, by lookup too': oneSession,
      'a COMMIT that took effect, its answer lost: executed, recovered, and replayed': noLink,
      'a COMMIT lost on its way: the definite error, and the key is free': noLink,
      'a refusal whose COMMIT took effect, its answer lost: rejected, recovered': noLink,
    },
  })
}

describe('PGlite', () => {
  pgliteLimits(new Kysely<NotesDatabase>({ dialect }))
})
