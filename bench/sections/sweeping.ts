import { createIdempotency } from '../../src/index.ts'
import { LIVE, onDatabase } from '../ground.ts'
import { loadedIntent } from '../intent.ts'
import { loadRecords, settle } from '../load.ts'
import { alternate } from '../measure/rounds.ts'
import { openHost } from '../variants/hosts.ts'
import { contestant, where } from './matrix.ts'
import type { Section } from './section.ts'

const CELL = { connections: 16, networkMs: 0 }
/** More than a sweeper gets done. */
const DUE_PER_MS = 25

/** Replays, with and without a sweeper at full speed beside them. */
export const sweeping: Section = {
  name: 'sweeping',
  id: 'sweeping',
  run: async (ground, plan) => {
    const url = await ground.createDatabase('bench_sweeping')
    return onDatabase(url, async (db) => {
      await loadRecords(db, LIVE)
      const idempotency = createIdempotency(db)
      let loaded = 0
      let left = 0
      let swept = 0
      // A 99th percentile needs more calls than a median.
      const pace = { ...plan.budgeted, roundMs: 2 * plan.budgeted.roundMs }
      const due = pace.roundMs * DUE_PER_MS
      const refill = async () => {
        if (left >= due) return
        await loadRecords(db, { prefix: 'past', count: 3 * due }, loaded)
        loaded += 3 * due
        left += 3 * due
      }
      const sweep = async (signal: AbortSignal) => {
        while (!signal.aborted) {
          const { cleared } = await idempotency.sweep({ signal })
          swept += cleared
          left -= cleared
        }
      }
      await refill()
      await settle(db)
      const host = openHost(url, CELL.connections)
      try {
        const replay = (shown: string) =>
          contestant(host, 'oncely', () => loadedIntent(LIVE), 'replayed', shown)
        const contestants = [
          // Both behind a refill, whose pages are still to be written.
          ...replay('without sweeping').map((one) => ({ ...one, before: refill })),
          ...replay('while sweeping').map((one) => ({ ...one, before: refill, beside: sweep })),
        ]
        const measured = await alternate(contestants, CELL.connections, pace)
        const title = `Replays and sweeping (${swept.toLocaleString('en-US')} swept), ${where(CELL)}`
        return { comparisons: [{ id: 'sweeping', title, ...CELL, measured }] }
      } finally {
        await host.close()
      }
    })
  },
}
