import type { TurnHost } from './cases.ts'
import type { Counted } from './count.ts'

/** How many turns more than the bare transaction. */
export function extraOf({ turns, bare }: Counted): number {
  return turns - bare
}

/** Turns that a first execution may have more than the bare transaction. */
const extra: Readonly<Partial<Record<TurnHost, number>>> = {
  pipelining: 0,
  oncelyDialect: 0,
  plain: 3,
}

/**
 * What is promised of a counted call, and whether it was kept.
 *
 * @returns undefined where nothing is promised.
 */
export function budgetOf(
  counted: Counted,
): { readonly text: string; readonly kept: boolean } | undefined {
  const { of, more = {} } = counted.case
  const { host, turns } = counted
  if (of === 'replay' && host !== 'plain') return { text: '1 turn', kept: turns === 1 }
  const most = extra[host]
  if (of !== 'first execution' || most === undefined) return undefined
  const bound = most + (more[host] ?? 0)
  return { text: `at most ${bound} extra turns`, kept: extraOf(counted) <= bound }
}
