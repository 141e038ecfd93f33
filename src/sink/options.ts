import { checkMs, checkNames, checkSchema, invalid } from '../checks.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import { fits } from './received-event.ts'

/** What becomes of an event whose sequence has a gap in front of it. */
export type GapPolicy = 'apply' | 'wait' | 'refuse'

/** Options of `createSink`. */
export interface SinkOptions<Gaps extends GapPolicy = 'apply'> {
  /** A stable name of what applies the events, 1 to 200 octets. Consumers are independent. */
  readonly consumer: string
  /**
   * The schema that holds the tables.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
  /**
   * What becomes of an event that comes before one that its aggregate has still to have, by their sequences:
   * `'apply'` applies it, and the one that was missing is `stale` should it come; `'wait'` and `'refuse'` leave it
   * alone, to be delivered again behind the missing one, or not at all.
   *
   * @defaultValue `'apply'`
   */
  readonly gaps?: Gaps
  /**
   * The sequence that every aggregate begins with, such as 1. Without it the first event of an aggregate that comes
   * is taken for its first one, whatever its sequence.
   *
   * @defaultValue none.
   */
  readonly firstSequence?: number
  /**
   * For how long it is known that an event was applied, in milliseconds, from 1 to 3,153,600,000,000 (a century);
   * `purge` deletes what is older. The sequences stay.
   *
   * @defaultValue for ever.
   */
  readonly retentionMs?: number
  /**
   * For how long the sender may deliver an event again, in milliseconds. It has to be shorter than the retention,
   * behind which a delivery is a new one.
   *
   * @defaultValue not known, and not checked.
   */
  readonly senderRetryMs?: number
}

/** With every default filled in. */
export interface ResolvedSink {
  readonly consumer: string
  readonly schema: string
  readonly gaps: GapPolicy
  readonly firstSequence: bigint | undefined
  readonly retentionMs: number | undefined
}

const CENTURY_MS = 3_153_600_000_000
const POLICIES: readonly unknown[] = ['apply', 'wait', 'refuse']
const NAMES = ['consumer', 'schema', 'gaps', 'firstSequence', 'retentionMs', 'senderRetryMs']

/** @throws OncelyError `invalid_options`. */
export function resolveSink(options: SinkOptions<GapPolicy>): ResolvedSink {
  checkNames(options, NAMES)
  const { consumer, schema = DEFAULT_SCHEMA, gaps = 'apply' } = options
  const { firstSequence, retentionMs, senderRetryMs } = options
  checkSchema(schema)
  if (!fits(consumer, 200)) throw invalid('consumer must be a name of 1 to 200 octets')
  if (!POLICIES.includes(gaps)) throw invalid("gaps must be 'apply', 'wait' or 'refuse'")
  if (firstSequence !== undefined && !(Number.isSafeInteger(firstSequence) && firstSequence >= 0)) {
    throw invalid('firstSequence must be a whole number from 0')
  }
  for (const [name, ms] of Object.entries({ retentionMs, senderRetryMs })) {
    if (ms !== undefined) checkMs(name, ms, CENTURY_MS)
  }
  if (retentionMs !== undefined && senderRetryMs !== undefined && retentionMs <= senderRetryMs) {
    throw invalid(
      'retentionMs must be longer than senderRetryMs: a late delivery would be applied again',
    )
  }
  return {
    ...{ consumer, schema, gaps, retentionMs },
    firstSequence: firstSequence === undefined ? undefined : BigInt(firstSequence),
  }
}
