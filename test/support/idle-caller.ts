// A caller in a process of its own, which has no handler for anything but what is asked of it:
// `idle-caller.ts URL HOST held` waits in the business function for something that is no SQL;
// `idle-caller.ts URL HOST idle` has a connection that lies idle in the pool.
// It says "ready", and, once a line comes in, what a call comes to.
import { once } from 'node:events'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { guardPool, oncelyDialect } from 'oncely/pg'
import { Pool } from 'pg'

import { one, scope } from './notes-host.ts'

const [url, host, how] = process.argv.slice(2) as [string, string, 'held' | 'idle']
const pool = new Pool({ connectionString: url, application_name: `${host} ${how}` })
if (host === 'guardPool') {
  guardPool(pool, {
    onError: () => {
      console.log('heard')
    },
  })
}
const dialect = new PostgresDialect({ pool })
const db = new Kysely<unknown>({
  dialect: host === 'oncelyDialect' ? oncelyDialect(dialect) : dialect,
})

async function toldToGoOn(): Promise<void> {
  console.log('ready')
  await once(process.stdin, 'data')
}

if (how === 'idle') {
  await sql`select 1`.execute(db)
  await toldToGoOn()
}
const call = createIdempotency(db).withIdempotency(scope, `${host} ${how}`, one, async (tx) => {
  if (how === 'held') await toldToGoOn()
  await sql`select 1`.execute(tx)
})
console.log(
  await call.then(
    ({ kind }) => kind,
    () => 'rejected',
  ),
)
await db.destroy()
process.stdin.destroy()
