import type { SweepCounts } from '../batches.ts'
import { createIdempotency } from '../create-idempotency.ts'
import { isOncelyError, OncelyError } from '../errors.ts'
import { createSweeper } from '../sweeper.ts'
import { parse } from './arguments.ts'
import { withDatabase } from './database.ts'
import { progressOn } from './progress.ts'
import { stopSignal } from './stop-signal.ts'

/** `oncely sweep`. */
export async function sweep(args: string[]): Promise<number> {
  const { url, schema, once, batch, interval, 'tombstone-window-ms': window } = parse(args, options)
  if (interval !== undefined && !(Number(interval) > 0)) {
    throw new OncelyError('invalid_options', '--interval must be a number of seconds above 0')
  }
  const total = { cleared: 0, purged: 0 }
  const progress = progressOn(process.stderr)
  using stop = stopSignal()
  stop.signal.addEventListener('abort', () => {
    progress.clear()
    process.stderr.write('oncely: stopping behind the batch under way; again to stop at once\n')
  })
  await withDatabase(url, async (db) => {
    const idempotency = createIdempotency(db, {
      schema,
      ...(window !== undefined && { tombstoneWindowMs: Number(window) }),
    })
    const sweeper = createSweeper(idempotency, {
      batchSize: batch === undefined ? undefined : Number(batch),
      intervalMs: interval === undefined ? undefined : Number(interval) * 1_000,
      onBatch({ cleared, purged }) {
        total.cleared += cleared
        total.purged += purged
        progress.show(inWords(total))
      },
      onRun(counts) {
        progress.clear()
        if (counts.cleared + counts.purged > 0) process.stdout.write(`${inWords(counts)}\n`)
      },
      onError(error) {
        progress.clear()
        if (isLasting(error)) throw error
        process.stderr.write(`oncely: ${error instanceof Error ? error.message : String(error)}\n`)
      },
    })
    try {
      await (once ? sweeper.runOnce(stop) : sweeper.run(stop))
    } finally {
      progress.clear()
      // Also behind an error: what the batches before it did is done.
      process.stdout.write(`total: ${inWords(total)}\n`)
    }
  })
  return 0
}

const options = {
  url: 'text',
  once: 'flag',
  batch: 'text',
  interval: 'text',
  'tombstone-window-ms': 'text',
} as const

/** What no later round gets over, so that whoever started the command should hear of it. */
const lasting: readonly unknown[] = ['access_denied', 'schema_missing', 'schema_outdated']

function isLasting(error: unknown): boolean {
  return isOncelyError(error) && lasting.includes(error.code)
}

function inWords({ cleared, purged }: SweepCounts): string {
  return `cleared ${cleared}, purged ${purged}`
}
