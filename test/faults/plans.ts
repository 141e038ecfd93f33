import type { Kysely } from 'kysely'
import { createIdempotency, type Idempotency } from 'oncely'

import {
  type Answer,
  hasty,
  type HostName,
  type NotesDatabase,
  one,
  other,
  type Runs,
  scope,
  writeNote,
} from './notes.ts'

/** A call that faults are let strike at, and what comes of it when nothing does. */
export interface Plan {
  readonly hosts: readonly HostName[]
  /** What is committed under the key before. */
  readonly before?: (
    idempotency: Idempotency<NotesDatabase>,
    key: string,
    runs: Runs,
  ) => Promise<unknown>
  readonly call: (db: Kysely<NotesDatabase>, key: string, runs: Runs) => Promise<Answer>
  /** The only kinds that may be told, beside `in_progress`. */
  readonly kinds: readonly string[]
  /** How often the business takes effect. */
  readonly expected: 0 | 1
  /** Whether it is answered before its rollback is, at whose messages faults are to strike, too. */
  readonly isAnsweredEarly?: boolean
}

const write = (
  db: Kysely<NotesDatabase>,
  key: string,
  runs: Runs,
  fingerprint = one,
  options = hasty,
) => writeBy(createIdempotency(db, options), key, runs, fingerprint)

const writeBy = (
  idempotency: Idempotency<NotesDatabase>,
  key: string,
  runs: Runs,
  fingerprint = one,
) =>
  runs.during((begin) =>
    idempotency.withIdempotency(scope, key, fingerprint, (tx, context) =>
      writeNote(tx, context, begin()),
    ),
  )

const first: Plan = {
  hosts: ['textsAlone', 'pipelining'],
  call: write,
  kinds: ['executed', 'replayed', 'unknown'],
  expected: 1,
}

const replay: Plan = { ...first, before: writeBy, kinds: ['replayed'], isAnsweredEarly: true }

export const plans = {
  // To statements that travel together it makes no difference whether the client pipelines: seen here.
  'first execution': { ...first, hosts: ['textsAlone', 'oncelyDialect', 'pipelining'] },
  'first execution, plain': { ...first, hosts: ['plain'] },
  // Before the caller loses its patience, so that it hears what is made of no answer.
  'first execution, COMMIT soon given up': {
    ...first,
    call: (db, key, runs) => write(db, key, runs, one, { ...hasty, resolveTimeoutMs: 150 }),
  },
  replay,
  conflict: {
    ...replay,
    call: (db, key, runs) => write(db, key, runs, other),
    kinds: ['conflict'],
  },
  rejection: {
    ...first,
    call: (db, key, runs) =>
      runs.during((begin) =>
        createIdempotency(db, hasty).withIdempotency(scope, key, one, async (tx, context) =>
          context.reject(await writeNote(tx, context, begin())),
        ),
      ),
    kinds: ['rejected', 'unknown'],
    expected: 0,
  },
  tombstone: {
    ...replay,
    async before(idempotency, key, runs) {
      await writeBy(idempotency, key, runs)
      await idempotency.expire(scope, key)
    },
    kinds: ['expired'],
  },
  joined: { ...first, call: join, kinds: ['applied', 'replayed', 'unknown'] },
} as const satisfies Record<string, Plan>

function join(db: Kysely<NotesDatabase>, key: string, runs: Runs): Promise<Answer> {
  return runs.during(async (begin): Promise<Answer> => {
    // Widened, since the compiler does not see the callback set it.
    let applied = false as boolean
    const transaction = db.transaction().execute(async (tx) => {
      const idempotency = createIdempotency(db, hasty).withTransaction(tx)
      const result = await idempotency.withIdempotency(scope, key, one, (inner, context) =>
        writeNote(inner, context, begin()),
      )
      applied = result.kind === 'applied'
      return result
    })
    try {
      return await transaction
    } catch (error) {
      // The COMMIT is the host's own: whether it took effect nobody has looked up.
      if (applied) return { kind: 'unknown' }
      throw error
    }
  })
}
