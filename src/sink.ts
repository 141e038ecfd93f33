import type { Kysely, Transaction } from 'kysely'

import { OncelyError } from './errors.ts'
import { checkNames, checkSchema } from './checks.ts'
import { DEFAULT_RESOLVE_TIMEOUT_MS, DEFAULT_SCHEMA } from './options.ts'
import type { Ending } from './postgres/ending.ts'
import type { OwnTables } from './postgres/enter.ts'
import { refuseTransaction } from './postgres/given.ts'
import { lend } from './postgres/lent-transaction.ts'
import { transactRepeatable } from './postgres/transact.ts'
import { recordEvent } from './sink/record-event.ts'

/** Options of `createSink`. */
export interface SinkOptions {
  /** A stable name of what applies the events, 1 to 200 octets. Consumers are independent. */
  readonly consumer: string
  /**
   * The schema that holds the tables.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
}

/** An event as it arrives. */
export interface ReceivedEvent {
  /** The event's identity, the same for every delivery: 1 to 255 octets. */
  readonly id: string
}

/** What became of a delivery. */
export type Receipt<Value> =
  | {
      /** The function ran, and its writes are committed. */
      readonly kind: 'applied'
      /** What the function returned. */
      readonly value: Value
    }
  | {
      /** This consumer has applied the event before; nothing ran. */
      readonly kind: 'duplicate'
    }

/** The receiving end of events that are delivered at least once. */
export interface Sink<DB> {
  /**
   * Applies an event once, however often it is delivered: its identity and the function's writes
   * are one transaction.
   *
   * @param event - as it was delivered.
   * @param apply - gets `tx`, the receiver's own transaction, and keeps to it.
   * @throws what `apply` throws, unchanged, after the rollback; the event can be delivered again.
   * Likewise the first error of a statement that failed while `apply` went on.
   * @throws OncelyError `invalid_event` for an id and `invalid_function` for a function that is none;
   * `outcome_unknown` when the answer to COMMIT was lost, or did not come within 10 seconds: let the event be delivered again.
   */
  receive<Value>(
    event: ReceivedEvent,
    apply: (tx: Transaction<DB>) => Promise<Value> | Value,
  ): Promise<Receipt<Value>>
}

/**
 * A sink on the receiver's own database.
 *
 * @param db - the receiver's own Kysely, not a transaction.
 * @throws OncelyError `invalid_options`.
 */
export function createSink<DB>(db: Kysely<DB>, options: SinkOptions): Sink<DB> {
  refuseTransaction(db, 'createSink')
  checkNames(options, ['consumer', 'schema'])
  const { consumer, schema = DEFAULT_SCHEMA } = options
  checkSchema(schema)
  if (!fits(consumer, 200)) {
    throw new OncelyError('invalid_options', 'consumer must be a name of 1 to 200 octets')
  }
  return Object.freeze<Sink<DB>>({
    async receive<Value>(
      event: ReceivedEvent,
      apply: (tx: Transaction<DB>) => Promise<Value> | Value,
    ) {
      const { id } = Object(event) as { readonly id: unknown }
      if (typeof apply !== 'function') {
        throw new OncelyError('invalid_function', 'what applies an event must be a function')
      }
      if (!fits(id, 255)) {
        throw new OncelyError('invalid_event', "the event's id must be a text of 1 to 255 octets")
      }
      const work = async (
        trx: Transaction<DB>,
        own: OwnTables,
      ): Promise<Ending<Receipt<Value>>> => {
        if (!(await recordEvent(own, consumer, id))) {
          return { end: 'rollback', outcome: { kind: 'duplicate' } }
        }
        return { end: 'commit', outcome: { kind: 'applied', value: await lend(trx, apply) } }
      }
      return transactRepeatable(db, schema, work, DEFAULT_RESOLVE_TIMEOUT_MS)
    },
  })
}

function fits(text: unknown, octets: number): text is string {
  if (typeof text !== 'string' || text === '' || text.includes('\0')) return false
  return text.isWellFormed() && Buffer.byteLength(text) <= octets
}
