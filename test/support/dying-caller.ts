// A caller in a process of its own, which ends inside the business function:
// `dying-caller.ts URL KEY hang` never comes back from it and is there to be killed;
// `dying-caller.ts URL KEY reject` dies of a rejection that nobody awaits.
import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency } from 'oncely'
import { Pool } from 'pg'

import { type NotesDatabase, one, scope, writeNote } from './notes-host.ts'

const [url, key, how] = process.argv.slice(2) as [string, string, string]
const pool = new Pool({ connectionString: url })
const db = new Kysely<NotesDatabase>({ dialect: new PostgresDialect({ pool }) })

await createIdempotency(db).withIdempotency(scope, key, one, async (tx, context) => {
  await writeNote(tx, context)
  process.stdout.write('claimed\n')
  if (how === 'reject') void Promise.reject(new Error('nobody awaits this'))
  await new Promise(() => undefined)
})
