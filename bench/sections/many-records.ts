import { onDatabase } from '../ground.ts'
import { loadedIntent, newIntent } from '../intent.ts'
import { loadRecords, settle } from '../load.ts'
import { alternate } from '../measure/rounds.ts'
import { openHost } from '../variants/hosts.ts'
import { contestant, where } from './matrix.ts'
import type { Section } from './section.ts'

const CELL = { connections: 16, networkMs: 0 }

/** The same calls on a small table and on a large one. */
export const manyRecords: Section = {
  name: 'many records',
  id: 'records',
  async run(ground, plan) {
    const sizes = [
      { name: 'few', count: 10_000 },
      { name: 'many', count: plan.many },
    ]
    const opened = []
    for (const { name, count } of sizes) {
      const url = await ground.createDatabase(`bench_${name}`)
      const loaded = { prefix: 'live', count } as const
      await onDatabase(url, async (db) => {
        await loadRecords(db, loaded)
        await settle(db)
      })
      opened.push({ name, loaded, host: openHost(url, CELL.connections) })
    }
    try {
      const contestants = opened.flatMap(({ name, loaded, host }) => {
        const replay = () => loadedIntent(loaded)
        return [
          ...contestant(host, 'oncely', newIntent, 'executed', `first execution, ${name}`),
          ...contestant(host, 'oncely', replay, 'replayed', `replay, ${name}`),
        ]
      })
      const measured = await alternate(contestants, CELL.connections, plan.budgeted)
      const instead = plan.quick ? '; 5 million in the full run' : ''
      const many = plan.many.toLocaleString('en-US')
      const title = `10,000 records (few) and ${many} (many${instead}), ${where(CELL)}`
      return { comparisons: [{ id: 'records', title, ...CELL, measured }] }
    } finally {
      for (const { host } of opened) await host.close()
    }
  },
}
