import { type Comparison, type Figure, ratioIn } from './measure/rounds.ts'
import type { Ratio } from './measure/statistics.ts'

/** A ratio that is promised: `must` fails the run, `aim` is what it is built for. */
export interface Budget {
  readonly name: string
  readonly direction: 'at least' | 'at most'
  readonly must: number
  readonly aim: number
  /** One figure of one contestant ÷ the same of another, round by round in the same comparison. */
  readonly comparison: string
  readonly figure: Figure
  readonly over: string
  readonly under: string
}

const first = {
  direction: 'at least',
  comparison: 'first-16-0',
  figure: 'perSecond',
  over: 'oncely',
} as const
const replay = { ...first, comparison: 'replay-16-0', under: 'first execution' } as const
const records = { ...first, comparison: 'records', must: 0.9, aim: 1 } as const

/** The turns are counted by `npm run bench:turns`. */
export const budgets: readonly Budget[] = [
  {
    name: 'p50 of first executions ÷ bare transactions, 1 ms of network, 1 connection',
    direction: 'at most',
    must: 1.15,
    aim: 1,
    comparison: 'first-1-1',
    figure: 'p50Ms',
    over: 'oncely',
    under: 'bare',
  },
  { name: 'first executions ÷ bare transactions', ...first, must: 0.55, aim: 0.75, under: 'bare' },
  { name: 'first executions ÷ naive', ...first, must: 1.3, aim: 1.7, under: 'naive' },
  {
    name: 'first executions ÷ three commits',
    ...first,
    must: 1.5,
    aim: 2,
    under: 'three commits',
  },
  { name: 'first executions ÷ by hand', ...first, must: 0.9, aim: 1, under: 'by hand' },
  { name: 'replays ÷ first executions', ...replay, must: 2.5, aim: 3.5 },
  {
    name: 'replays with readFirst ÷ first executions',
    ...replay,
    must: 4,
    aim: 6,
    over: 'oncely, readFirst',
  },
  {
    name: 'first executions, 5 million records ÷ 10 thousand',
    ...records,
    over: 'first execution, many',
    under: 'first execution, few',
  },
  {
    name: 'replays, 5 million records ÷ 10 thousand',
    ...records,
    over: 'replay, many',
    under: 'replay, few',
  },
  {
    name: 'p99 of replays while sweeping ÷ without',
    direction: 'at most',
    must: 2,
    aim: 1.3,
    comparison: 'sweeping',
    figure: 'p99Ms',
    over: 'while sweeping',
    under: 'without sweeping',
  },
]

/** A budget and what was measured; undefined where it was not. */
export interface Judged {
  readonly budget: Budget
  readonly ratio: Ratio | undefined
  readonly verdict: 'aim met' | 'must met' | 'MISSED' | 'not measured'
}

export function judge(comparisons: readonly Comparison[]): Judged[] {
  return budgets.map((budget) => {
    const comparison = comparisons.find(({ id }) => id === budget.comparison)
    const ratio = ratioIn(comparison, budget.figure, budget.over, budget.under)
    return { budget, ratio, verdict: verdictOf(budget, ratio?.median) }
  })
}

function verdictOf({ direction, must, aim }: Budget, value?: number): Judged['verdict'] {
  if (value === undefined) return 'not measured'
  const keeps = (bound: number) => (direction === 'at least' ? value >= bound : value <= bound)
  if (keeps(aim)) return 'aim met'
  return keeps(must) ? 'must met' : 'MISSED'
}
