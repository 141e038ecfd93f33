import type { Kysely, Transaction } from 'kysely'

import { checkNames, invalid } from './checks.ts'
import { type ResolvedOptions } from './options.ts'
import type { Ending } from './postgres/ending.ts'
import type { OwnTables } from './postgres/enter.ts'
import { boundSilence } from './postgres/settings.ts'
import { transactRepeatable } from './postgres/transact.ts'

/** How `sweep` and `purge` go about it. */
export interface SweepOptions {
  /**
   * How many records one transaction takes, from 1 to 10,000. While it lasts, calls with one of
   * their keys wait for it.
   *
   * @defaultValue 1,000: enough for the commits not to count, and few enough for
   * such a call not to wait for long.
   */
  readonly batchSize?: number | undefined
  /** Ends the work between two batches; the one under way is committed. */
  readonly signal?: AbortSignal | undefined
  /** Is told behind each batch how many records it took. What it throws ends the work. */
  readonly onBatch?: ((rows: number) => void) | undefined
}

/** What was done to records. */
export interface SweepCounts {
  /** How many were past their replay window and have become tombstones. */
  readonly cleared: number
  /** How many tombstones were past their window and have been deleted. */
  readonly purged: number
}

/** What is swept in one transaction unless said otherwise. */
export const DEFAULT_BATCH_SIZE = 1_000

/**
 * Batch after batch, each a transaction of its own, until one is not full or the signal aborts.
 *
 * @param takeBatch - one statement that takes as many records as it is told at the most.
 * @returns how many records were taken in all.
 */
export async function inBatches<DB>(
  db: Kysely<DB>,
  resolved: Pick<ResolvedOptions, 'schema' | 'resolveTimeoutMs' | 'idleInTransactionTimeoutMs'>,
  options: SweepOptions,
  takeBatch: (own: OwnTables, batchSize: number) => Promise<number>,
): Promise<number> {
  const { batchSize = DEFAULT_BATCH_SIZE, signal, onBatch } = options
  let total = 0
  let full = true
  while (full && !signal?.aborted) {
    const batch = async (_: Transaction<DB>, own: OwnTables): Promise<Ending<number>> => {
      await boundSilence(own, resolved)
      return { end: 'commit', outcome: await takeBatch(own, batchSize) }
    }
    const rows = await transactRepeatable(db, resolved.schema, batch, resolved.resolveTimeoutMs)
    total += rows
    full = rows === batchSize
    onBatch?.(rows)
  }
  return total
}

/** @throws OncelyError `invalid_options`. */
export function checkSweepOptions(options: SweepOptions): SweepOptions {
  checkNames(options, ['batchSize', 'signal', 'onBatch'])
  checkBatchSize(options.batchSize)
  checkSignal(options.signal)
  checkCallback('onBatch', options.onBatch)
  return options
}

/** @throws OncelyError `invalid_options`. */
export function checkBatchSize(batchSize: unknown): void {
  if (batchSize === undefined) return
  if (!Number.isInteger(batchSize) || Number(batchSize) < 1 || Number(batchSize) > 10_000) {
    throw invalid('batchSize must be a whole number from 1 to 10000')
  }
}

/** @throws OncelyError `invalid_options`. */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw invalid('signal must be an AbortSignal')
}

/** @throws OncelyError `invalid_options`. */
export function checkCallback(name: string, callback: unknown): void {
  if (callback === undefined || typeof callback === 'function') return
  throw invalid(`${name} must be a function`)
}
