import { LIVE } from '../ground.ts'
import { loadedIntent, newIntent } from '../intent.ts'
import { contestant, isCell, overMatrix } from './matrix.ts'
import type { Section } from './section.ts'

/** Keys that have an answer, any of 10 thousand; beside them, what a first execution costs. */
export const replays: Section = {
  name: 'replays',
  id: 'replay',
  async run(ground, plan) {
    const comparisons = await overMatrix(
      ground,
      plan,
      'replay',
      'Replays',
      (cell) => isCell(cell, '16-0'),
      (host) => {
        const names = ['oncely', 'oncely, readFirst']
        if (!plan.quick) names.push('oncely, share lock', 'naive', 'three commits', 'by hand')
        const replay = () => loadedIntent(LIVE)
        return [
          ...contestant(host, 'oncely', newIntent, 'executed', 'first execution'),
          ...names.flatMap((name) => contestant(host, name, replay, 'replayed')),
        ]
      },
    )
    return { comparisons }
  },
}
