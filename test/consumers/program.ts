// What a stranger writes on the first day; each consumer project runs it, or its JavaScript.
import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency, fingerprint, isOncelyError, type Result } from 'oncely'
import { guardPool, oncelyDialect } from 'oncely/pg'
import { createSink } from 'oncely/sink'
import pg from 'pg'

interface Database {
  notes: { id: string; body: string }
}

const pool = guardPool(new pg.Pool({ connectionString: process.env['DATABASE_URL'] }))
const db = new Kysely<Database>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
const idempotency = createIdempotency(db)
const scope = { tenant: 'acme', actor: 'alice', operation: 'notes.create' }

function write(key: string, body: string) {
  return idempotency.withIdempotency(
    scope,
    key,
    fingerprint({ body }, { version: 1 }),
    async (tx, { emit }) => {
      await tx.insertInto('notes').values({ id: key, body }).execute()
      emit({ type: 'note.written', aggregateType: 'note', aggregateId: key, payload: { body } })
      return { id: key, at: new Date(0) }
    },
  )
}

/** Exhaustive, or it does not compile. */
function told(result: Result<{ id: string; at: string }>): string {
  switch (result.kind) {
    case 'executed':
    case 'replayed':
      return `${result.kind} ${result.value.at}`
    case 'rejected':
    case 'conflict':
    case 'expired':
    case 'in_progress':
    case 'unknown':
      return result.kind
  }
}

/** Never called: what the packed types say of an operation's options. */
async function _typed() {
  const print = fingerprint(1, { version: 1 })
  const operation = idempotency.withOptions({ authorize: () => true, replay: () => 'made anew' })
  const result = await operation.withIdempotency(scope, 'k', print, () => ({ at: new Date(0) }))
  if (result.kind === 'denied') return undefined
  if (result.kind === 'executed') return result.value.at satisfies string
  if (result.kind !== 'replayed') return undefined
  // @ts-expect-error it is what `replay` makes, and not what the function returned
  const wrong: { at: string } = result.value
  return (result.value satisfies string) && wrong
}

try {
  console.log(told(await write('K-1', 'a')))
  console.log(told(await write('K-1', 'a')))
  console.log(told(await write('K-1', 'b')))
  await idempotency.expire(scope, 'K-1')
  console.log(told(await write('K-1', 'a')))
  console.log((await createSink(db, { consumer: 'c' }).receive({ id: 'e' }, () => 1)).kind)
  console.log(await write('', 'a').catch((error: unknown) => isOncelyError(error) && error.code))
} finally {
  await db.destroy()
}
