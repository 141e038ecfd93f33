import { repeat } from './backoff/repeat.ts'
import {
  checkBatchSize,
  checkCallback,
  checkSignal,
  DEFAULT_BATCH_SIZE,
  type SweepCounts,
  type SweepOptions,
} from './batches.ts'
import type { Idempotency } from './idempotency.ts'
import { checkNames, invalid } from './checks.ts'

/** Options of `createSweeper`. */
export interface SweeperOptions {
  /**
   * From the end of one round to the start of the next, in milliseconds, from 1 to 86,400,000, give
   * or take a quarter, so that several sweepers do not stay in step.
   *
   * @defaultValue 60,000: a record past its window answers `expired` without being swept, so nothing
   * but the space of its response waits for the sweeper, and a minute of that is little.
   */
  readonly intervalMs?: number | undefined
  /**
   * How many records one transaction takes, from 1 to 10,000.
   *
   * @defaultValue 1,000, as of `sweep`.
   */
  readonly batchSize?: number | undefined
  /** Is told behind each round of `run` what it did, also when that is nothing. */
  readonly onRun?: ((counts: SweepCounts) => unknown) | undefined
  /** Is told behind each batch what it did, also of a round that fails later. */
  readonly onBatch?: ((counts: SweepCounts) => void) | undefined
  /**
   * Is given what a round of `run` failed with; the next round comes after the interval. What it
   * throws itself ends `run`.
   *
   * @defaultValue the error becomes a warning of the process, which prints it: a passing fault does
   * not end the sweeper, and none goes unseen.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined
}

/** Clears and deletes what is past its windows. Several at once, in one process or many, share the work. */
export interface Sweeper {
  /**
   * One round: `sweep`, then `purge`, until nothing is due, or the signal aborts between two batches.
   *
   * @returns what was done.
   * @throws what `sweep` and `purge` throw; the batches before stay done.
   */
  runOnce(options?: {
    /** Ends the round between two batches. */
    readonly signal?: AbortSignal | undefined
  }): Promise<SweepCounts>
  /**
   * Round after round, with the interval between them; at once where a round found enough to fill a
   * batch, since more may have come due meanwhile. Keeps the process alive.
   *
   * @returns when the signal has aborted and the batch under way is committed.
   * @throws OncelyError `invalid_options` without a signal; what `onError` throws.
   */
  run(options: {
    /** Ends it. */
    readonly signal: AbortSignal
  }): Promise<void>
}

/** A day: who wants less often than that calls `runOnce` from a scheduler of their own. */
const MAX_INTERVAL_MS = 86_400_000

/**
 * A sweeper, to be run in process. `oncely sweep` is the same as a command.
 *
 * @param idempotency - whose records, and by whose `tombstoneWindowMs`; without one, nothing is
 * deleted. Its role needs the rights that `oncely migrate grants --sweeper` prints.
 * @throws OncelyError `invalid_options`.
 *
 * @example
 * ```ts
 * const stop = new AbortController()
 * const sweeping = createSweeper(idempotency, { onError: log.error }).run({ signal: stop.signal })
 * // At shutdown, before the pool is closed:
 * stop.abort()
 * await sweeping
 * ```
 */
export function createSweeper(
  idempotency: Pick<Idempotency<unknown>, 'sweep' | 'purge'>,
  options: SweeperOptions = {},
): Sweeper {
  const { sweep, purge } = Object(idempotency) as Partial<typeof idempotency>
  if (typeof sweep !== 'function' || typeof purge !== 'function') {
    throw invalid('createSweeper needs what createIdempotency has made')
  }
  checkNames(options, ['intervalMs', 'batchSize', 'onRun', 'onBatch', 'onError'])
  const { intervalMs = 60_000, batchSize = DEFAULT_BATCH_SIZE, onRun, onBatch } = options
  const { onError = warn } = options
  checkBatchSize(batchSize)
  checkCallback('onRun', onRun)
  checkCallback('onBatch', onBatch)
  checkCallback('onError', onError)
  if (!Number.isInteger(intervalMs) || intervalMs < 1 || intervalMs > MAX_INTERVAL_MS) {
    throw invalid(`intervalMs must be a whole number of milliseconds from 1 to ${MAX_INTERVAL_MS}`)
  }

  async function round(signal: AbortSignal | undefined): Promise<SweepCounts> {
    const told = (counts: (rows: number) => SweepCounts): SweepOptions => ({
      batchSize,
      signal,
      onBatch: (rows) => onBatch?.(counts(rows)),
    })
    const { cleared } = await idempotency.sweep(told((rows) => ({ cleared: rows, purged: 0 })))
    const { purged } = await idempotency.purge(told((rows) => ({ cleared: 0, purged: rows })))
    return { cleared, purged }
  }

  return Object.freeze<Sweeper>({
    async runOnce(given = {}) {
      checkNames(given, ['signal'])
      checkSignal(given.signal)
      return round(given.signal)
    },

    async run(given) {
      const { signal } = Object(given) as { readonly signal?: AbortSignal }
      checkSignal(signal)
      if (!signal) throw invalid('run needs a signal, by which it ends')
      await repeat(
        async () => {
          try {
            const counts = await round(signal)
            await onRun?.(counts)
            return Math.max(counts.cleared, counts.purged) >= batchSize ? 'more' : 'idle'
          } catch (error) {
            await onError(error)
            return 'idle'
          }
        },
        { intervalMs, signal },
      )
    },
  })
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
