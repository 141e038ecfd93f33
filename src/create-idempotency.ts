import type { Kysely, Transaction } from 'kysely'

import { checkSweepOptions, inBatches } from './batches.ts'
import { lookUp } from './call/lookup.ts'
import type { Idempotency, JoinedIdempotency } from './idempotency.ts'
import { type Operation, resolveOperation } from './operation.ts'
import { type IdempotencyOptions, optionsOf, resolveOptions } from './options.ts'
import { refuseTransaction, requireTransaction } from './postgres/given.ts'
import { boundSilence } from './postgres/settings.ts'
import { transactRepeatable } from './postgres/transact.ts'
import { checkErasure, eraseBatch } from './records/erase.ts'
import { expireRecord } from './records/expire.ts'
import { purgeTombstones } from './records/purge.ts'
import { forgetQuotaUses } from './records/quota.ts'
import { sweepRecords } from './records/sweep.ts'
import { jsonCodec } from './response/codec.ts'
import { checkKey, checkScope } from './scope.ts'
import type { Shape } from './shape.ts'
import { withIdempotency, withTransaction } from './with-idempotency.ts'

/**
 * Idempotent writes on the database behind a Kysely of PostgreSQL. Opens nothing and needs no
 * shutdown: each call borrows one connection of `db`.
 *
 * @param db - the host's own Kysely, not a transaction; its plugins apply to `tx`, not to us.
 * @throws OncelyError `invalid_options`.
 */
export function createIdempotency<DB>(
  db: Kysely<DB>,
  options: IdempotencyOptions = {},
): Idempotency<DB> {
  refuseTransaction(db, 'createIdempotency')
  return idempotencyOn(db, { codec: jsonCodec, ...resolveOptions(options) })
}

function idempotencyOn<DB, Of extends Shape>(
  db: Kysely<DB>,
  operation: Operation<DB>,
): Idempotency<DB, Of> {
  // Stored values come back as what they were stored as, and kinds only with their option: the
  // compiler has to be told.
  return Object.freeze({
    options: Object.freeze({ ...optionsOf(operation), codec: operation.codec }),

    withIdempotency: (scope, key, fingerprints, fn, options) =>
      withIdempotency(db, operation, { scope, key, fingerprints, fn, options }),

    withTransaction(tx: Transaction<DB>) {
      requireTransaction(tx)
      return Object.freeze({
        withIdempotency: (scope, key, fingerprints, fn, options) =>
          withTransaction(tx, operation, { scope, key, fingerprints, fn, options }),
      } as JoinedIdempotency<DB, Of>)
    },

    lookup: (scope, key, fingerprints, options) =>
      lookUp(db, operation, scope, key, fingerprints, options),

    async expire(scope, key) {
      const identity = { ...checkScope(scope), key: checkKey(key) }
      return transactRepeatable(
        db,
        operation.schema,
        async (_, own) => {
          await boundSilence(own, operation)
          return { end: 'commit', outcome: await expireRecord(own, identity) }
        },
        operation.resolveTimeoutMs,
      )
    },

    async erase(whose) {
      const checked = checkErasure(whose)
      return inBatches(db, operation, {}, (own, batchSize) => eraseBatch(own, checked, batchSize))
    },

    async sweep(options = {}) {
      const checked = checkSweepOptions(options)
      return { cleared: await inBatches(db, operation, checked, sweepRecords) }
    },

    async purge(options = {}) {
      const checked = checkSweepOptions(options)
      await inBatches(
        db,
        operation,
        { batchSize: checked.batchSize, signal: checked.signal },
        forgetQuotaUses,
      )
      const { tombstoneWindowMs } = operation
      if (tombstoneWindowMs === Infinity) return { purged: 0 }
      return {
        purged: await inBatches(db, operation, checked, (own, batchSize) =>
          purgeTombstones(own, tombstoneWindowMs, batchSize),
        ),
      }
    },

    withOptions: (options) => idempotencyOn(db, resolveOperation(options, operation)),
  } as Idempotency<DB, Of>)
}
