import type { Ground } from '../ground.ts'
import { alternate, type Comparison, type Contestant } from '../measure/rounds.ts'
import { type Host, openHost } from '../variants/hosts.ts'
import type { Plan } from './section.ts'

export interface Cell {
  readonly connections: number
  readonly networkMs: number
}

/** Every number of connections, near and far. */
export const cells: readonly Cell[] = [0, 1].flatMap((networkMs) =>
  [1, 16, 64].map((connections) => ({ connections, networkMs })),
)

export function isCell({ connections, networkMs }: Cell, id: string): boolean {
  return id === `${connections}-${networkMs}`
}

/** Measures the same contestants in each cell, longer where a budget is for it. */
export async function overMatrix(
  ground: Ground,
  plan: Plan,
  name: string,
  title: string,
  isBudgeted: (cell: Cell) => boolean,
  contestantsOf: (host: Host, cell: Cell) => readonly Contestant[],
): Promise<Comparison[]> {
  const comparisons: Comparison[] = []
  for (const cell of cells) {
    const pace = isBudgeted(cell) ? plan.budgeted : plan.other
    const id = `${name}-${cell.connections}-${cell.networkMs}`
    if (!pace || !plan.wants(id)) continue
    const host = openHost(ground.url(cell.networkMs), cell.connections)
    try {
      const measured = await alternate(contestantsOf(host, cell), cell.connections, pace)
      comparisons.push({ id, title: `${title}, ${where(cell)}`, ...cell, measured })
    } finally {
      await host.close()
    }
  }
  return comparisons
}

export function where({ connections, networkMs }: Cell): string {
  const network = networkMs === 0 ? 'no network' : `${networkMs} ms of network`
  return `${connections} ${connections === 1 ? 'connection' : 'connections'}, ${network}`
}

/** A variant that has to end each intent in that way; otherwise the figures would be of something else. */
export function contestant(
  host: Host,
  name: string,
  intent: () => Parameters<Host['variants'][string]>[0],
  outcome: string,
  shown = name,
): Contestant[] {
  const variant = host.variants[name]
  if (!variant) return []
  const call = async () => {
    const kind = await variant(intent())
    if (kind !== outcome) throw new Error(`${shown}: ${kind} instead of ${outcome}`)
  }
  return [{ name: shown, call }]
}
