import { LIVE, PAST } from '../ground.ts'
import { conflicting, type Intent, loadedIntent, newIntent } from '../intent.ts'
import { alternate, type Comparison, type Contestant } from '../measure/rounds.ts'
import { type Host, openHost } from '../variants/hosts.ts'
import { contestant, where } from './matrix.ts'
import type { Section } from './section.ts'

const CALLERS = 50
const names = ['oncely', 'oncely, readFirst', 'naive', 'three commits', 'by hand']

const kinds = [
  {
    id: 'other-conflict',
    title: 'Conflicts',
    connections: 16,
    contestantsOf: (host: Host) => ending(host, () => conflicting(loadedIntent(LIVE)), 'conflict'),
  },
  {
    id: 'other-expired',
    title: 'Expired keys',
    connections: 16,
    contestantsOf: (host: Host) => ending(host, () => loadedIntent(PAST), 'expired'),
  },
  {
    id: 'other-storm',
    title: `${CALLERS} callers on one new key, until all of them have an answer`,
    connections: 64,
    callers: 1,
    contestantsOf: (host: Host) => names.flatMap((name) => storm(host, name)),
  },
]

function ending(host: Host, intent: () => Intent, outcome: string): Contestant[] {
  return names.flatMap((name) => contestant(host, name, intent, outcome))
}

function storm(host: Host, name: string): Contestant[] {
  const variant = host.variants[name]
  if (!variant) return []
  const call = async () => {
    const intent = newIntent()
    // A naive one that waits for its lock too long fails; it has its answer all the same.
    const ends = await Promise.allSettled(Array.from({ length: CALLERS }, () => variant(intent)))
    const executed = ends.filter((end) => end.status === 'fulfilled' && end.value === 'executed')
    if (executed.length !== 1) throw new Error(`${name}: executed ${executed.length} times`)
  }
  return [{ name, call }]
}

/** What is neither a first execution nor a replay. */
export const otherOutcomes: Section = {
  name: 'other outcomes',
  id: 'other',
  async run(ground, { other, wants }) {
    const comparisons: Comparison[] = []
    if (!other) return {}
    for (const { id, title, connections, callers, contestantsOf } of kinds) {
      if (!wants(id)) continue
      const host = openHost(ground.url(0), connections)
      const cell = { connections, networkMs: 0 }
      try {
        const measured = await alternate(contestantsOf(host), callers ?? connections, other)
        comparisons.push({ id, title: `${title}, ${where(cell)}`, ...cell, measured })
      } finally {
        await host.close()
      }
    }
    return { comparisons }
  },
}
