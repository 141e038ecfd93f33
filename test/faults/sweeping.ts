import { createIdempotency, isOncelyError } from 'oncely'
import type { Subject, ToldCall } from 'oncely/testing'

import { migrateToLatest } from '../../src/migrations.ts'
import { type Answer, connect, hasty, type HostName, one, scope, writeNote } from './notes.ts'
import type { Ground } from './ground.ts'

/**
 * A sweep of a record that is past its window. Whoever sweeps takes all that are due, so each key has
 * a schema of its own while it lasts.
 */
export function sweeping(ground: Ground, by: HostName): Subject<Answer> {
  const { url, db } = ground
  const schemas = new Map<string, string>()
  const free: string[] = []
  let made = 0
  const schemaOf = (key: string) => schemas.get(key) ?? 'idem'
  const options = (key: string) => ({ ...hasty, schema: schemaOf(key), replayWindowMs: 1 })

  return {
    url,
    async prepare(key) {
      const schema = free.pop() ?? `sweep_${(made += 1)}`
      schemas.set(key, schema)
      await migrateToLatest(db, { schema })
      await createIdempotency(db, options(key)).withIdempotency(scope, key, one, (tx, context) =>
        writeNote(tx, context, key),
      )
      // Until it is due, by the clock of the database.
      for (let due = 0; due === 0;) due = (await rowsOf(key, true)).length
    },
    open(through) {
      const host = connect(through, by)
      return {
        async call(key) {
          const { cleared } = await createIdempotency(host, options(key)).sweep()
          return { kind: 'swept', cleared }
        },
        close: () => host.destroy(),
      }
    },
    effects: (key) => ground.effects(key),
    async check(key, calls) {
      const [record] = await rowsOf(key, false)
      const again = await createIdempotency(db, options(key)).withIdempotency(
        scope,
        key,
        one,
        () => {
          throw new Error('a key has been opened again')
        },
      )
      free.push(schemaOf(key))
      const found = `${JSON.stringify(record)} behind the sweep, and then ${again.kind}`
      const isCleared = record?.state === 'expired' && record.response === null
      return [
        ...(isCleared && again.kind === 'expired' ? [] : [misreported(found)]),
        ...(isToldOnce(calls) ? [] : [misreported('the one record was not told of once')]),
      ]
    },
  }

  function rowsOf(key: string, due: boolean) {
    const records = db.withSchema(schemaOf(key)).selectFrom('records').where('key', '=', key)
    const found = records.select(['state', 'response'])
    return (
      due ? found.where('replay_until', '<=', (eb) => eb.fn<Date>('clock_timestamp')) : found
    ).execute()
  }
}

const misreported = (why: string) => ({ wrong: 'misreported' as const, why })

/** By a count, or by an error that says that it may have been cleared. */
function isToldOnce(calls: readonly ToldCall<Answer>[]): boolean {
  const told = calls.flatMap((call) => call.told ?? [])
  const counted = told.reduce(
    (sum, one) => sum + ('result' in one ? (one.result.cleared ?? 0) : 0),
    0,
  )
  const open = told.some(
    (one) => 'error' in one && isOncelyError(one.error) && one.error.code === 'outcome_unknown',
  )
  return counted === 1 || (counted === 0 && open)
}
