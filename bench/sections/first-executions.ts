import { newIntent } from '../intent.ts'
import { contestant, isCell, overMatrix } from './matrix.ts'
import type { Section } from './section.ts'

/** New keys: claim, business, event, response. */
export const firstExecutions: Section = {
  name: 'first executions',
  id: 'first',
  async run(ground, plan) {
    const comparisons = await overMatrix(
      ground,
      plan,
      'first',
      'First executions',
      (cell) => isCell(cell, '16-0') || isCell(cell, '1-1'),
      (host, cell) => {
        const names = ['oncely', 'bare']
        // One turn less: in the network that is the bar for what sends the event with its own statements.
        if (cell.networkMs > 0) names.push('bare without event')
        if (!plan.quick || cell.networkMs === 0) names.push('naive', 'three commits', 'by hand')
        // Beside the budgets: how much of what these two cost is that of a table with rules.
        if (!plan.quick && isCell(cell, '16-0'))
          names.push('naive, lean table', 'three commits, lean table')
        if (!plan.quick) names.push('oncely, readFirst')
        return names.flatMap((name) => contestant(host, name, newIntent, 'executed'))
      },
    )
    return { comparisons }
  },
}
