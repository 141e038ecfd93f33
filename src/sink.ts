import type { Kysely, Transaction } from 'kysely'

import { checkSweepOptions, inBatches, type SweepCounts, type SweepOptions } from './batches.ts'
import { OncelyError } from './errors.ts'
import { DEFAULT_IDLE_TIMEOUT_MS, DEFAULT_RESOLVE_TIMEOUT_MS } from './options.ts'
import type { Ending } from './postgres/ending.ts'
import type { OwnTables } from './postgres/enter.ts'
import { refuseTransaction } from './postgres/given.ts'
import { lend } from './postgres/lent-transaction.ts'
import { transactRepeatable } from './postgres/transact.ts'
import { advance } from './sink/advance.ts'
import { type GapPolicy, resolveSink, type SinkOptions } from './sink/options.ts'
import { purgeApplied } from './sink/purge.ts'
import type { Receipt } from './sink/receipt.ts'
import { checkReceived, type ReceivedEvent } from './sink/received-event.ts'
import { recordEvent } from './sink/record-event.ts'

export type { GapPolicy, SinkOptions } from './sink/options.ts'
export type { Applied, DuplicateEvent, Gap, Receipt, Stale } from './sink/receipt.ts'
export type { ReceivedEvent } from './sink/received-event.ts'
export type { SweepCounts, SweepOptions } from './batches.ts'

/** The receiving end of events that are delivered at least once. */
export interface Sink<DB, Gaps extends GapPolicy = 'apply'> {
  /**
   * Applies an event once, however often it is delivered: its identity, its sequence and the function's writes
   * are one transaction.
   *
   * @param event - as it was delivered.
   * @param apply - gets `tx`, the receiver's own transaction, and keeps to it.
   * @throws what `apply` throws, unchanged, after the rollback; the event can be delivered again.
   * Likewise the first error of a statement that failed while `apply` went on.
   * @throws OncelyError `invalid_event` for an id or a sequence and `invalid_function` for a function that is none;
   * `outcome_unknown` when the answer to COMMIT was lost, or did not come within 10 seconds: let the event be delivered again.
   */
  receive<Value>(
    event: ReceivedEvent,
    apply: (tx: Transaction<DB>) => Promise<Value> | Value,
  ): Promise<Receipt<Value, Gaps>>
  /**
   * Deletes what this consumer has applied longer ago than `retentionMs`, in batches; without one nothing. Its role
   * needs the rights that `oncely migrate grants --sweeper` prints.
   *
   * @returns how many events were forgotten.
   * @throws OncelyError `invalid_options`.
   */
  purge(options?: SweepOptions): Promise<Pick<SweepCounts, 'purged'>>
}

/**
 * A sink on the receiver's own database.
 *
 * @param db - the receiver's own Kysely, not a transaction.
 * @throws OncelyError `invalid_options`.
 */
export function createSink<DB, const Gaps extends GapPolicy = 'apply'>(
  db: Kysely<DB>,
  options: SinkOptions<Gaps>,
): Sink<DB, Gaps> {
  refuseTransaction(db, 'createSink')
  const resolved = resolveSink(options)
  const { consumer, schema, gaps, retentionMs } = resolved
  return Object.freeze<Sink<DB, Gaps>>({
    async receive<Value>(
      event: ReceivedEvent,
      apply: (tx: Transaction<DB>) => Promise<Value> | Value,
    ) {
      if (typeof apply !== 'function') {
        throw new OncelyError('invalid_function', 'what applies an event must be a function')
      }
      const { id, place } = checkReceived(event)
      const work = async (
        trx: Transaction<DB>,
        own: OwnTables,
      ): Promise<Ending<Receipt<Value, GapPolicy>>> => {
        if (!(await recordEvent(own, consumer, id))) {
          return { end: 'rollback', outcome: { kind: 'duplicate' } }
        }
        const ahead = place && (await advance(own, resolved, place))
        if (ahead?.is === 'stale') {
          return { end: 'commit', outcome: { kind: 'stale', last: ahead.last } }
        }
        if (ahead?.is === 'gap') {
          const policy = gaps === 'refuse' ? gaps : 'wait'
          return { end: 'rollback', outcome: { kind: 'gap', policy, expected: ahead.expected } }
        }
        const missing = ahead?.missing ?? 0
        const value = await lend(trx, apply)
        return { end: 'commit', outcome: { kind: 'applied', value, missing } }
      }
      const receipt = await transactRepeatable(db, schema, work, DEFAULT_RESOLVE_TIMEOUT_MS)
      return receipt as Receipt<Value, Gaps>
    },

    async purge(given = {}) {
      const checked = checkSweepOptions(given)
      if (retentionMs === undefined) return { purged: 0 }
      const bounds = {
        schema,
        resolveTimeoutMs: DEFAULT_RESOLVE_TIMEOUT_MS,
        idleInTransactionTimeoutMs: DEFAULT_IDLE_TIMEOUT_MS,
      }
      return {
        purged: await inBatches(db, bounds, checked, (own, batchSize) =>
          purgeApplied(own, { consumer, retentionMs }, batchSize),
        ),
      }
    },
  })
}
