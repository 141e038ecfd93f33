import { fullSize, quickSize, run } from '../memory/run.ts'
import { tableOf } from '../memory/table.ts'
import type { Section } from './section.ts'

/** What a call holds while it is in flight, and whether anything is left of it. */
export const memory: Section = {
  name: 'memory',
  id: 'memory',
  fullOnly: true,
  async run(ground, { quick }) {
    const size = quick ? quickSize : fullSize
    const url = new URL(await ground.createDatabase('bench_memory'))
    // A commit that waits for the disk holds nothing more, and there are many of them.
    url.searchParams.set('options', '-c synchronous_commit=off')
    const figures = await run(url.href, size)
    const missed = figures.filter(({ kept }) => kept === false)
    return {
      tables: [tableOf(figures, size)],
      missed: missed.map(({ name }) => `memory, ${name}`),
    }
  },
}
