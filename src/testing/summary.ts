import { inspect } from 'node:util'

import type { ToldCall } from './calls.ts'
import type { Fault } from './fault.ts'
import type { Finding, Wrong } from './judge.ts'

/** A fault that something came of which should not have. */
export interface Problem<Result = unknown> extends Finding {
  /** What struck. */
  readonly fault: Fault
  /** Where, in words, such as `Execute of insert into orders …`. */
  readonly at: string
  /** Under which the calls were made. */
  readonly key: string
  /** In their order, with what each was told. */
  readonly calls: readonly ToldCall<Result>[]
}

const wrongs = ['lost', 'duplicated', 'misreported', 'stuck'] as const satisfies readonly Wrong[]

/** How many there are of each, in one line. */
export function countsOf(faults: number, problems: readonly Finding[]): string {
  const count = (wrong: Wrong) => problems.filter((problem) => problem.wrong === wrong).length
  return [`faults: ${faults}`, ...wrongs.map((wrong) => `${wrong}: ${count(wrong)}`)].join(', ')
}

/** One cause has many problems: the first one of each reason, with what its callers were told. */
export function describeProblems(problems: readonly Problem[]): string {
  return [...Map.groupBy(problems, ({ why }) => reason(why)).values()]
    .map(([first, ...others]) => (first ? describe(first, others.length) : ''))
    .join('\n')
}

/** Without what is another one each time. */
const reason = (why: string) => why.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '…')

function describe({ wrong, why, fault, at, calls }: Problem, others: number): string {
  const { kind, side, message, direction } = fault
  const name = typeof kind === 'string' ? kind : kind.name
  const told = calls.map(({ told, givenUp }) => {
    const words = !told ? 'nothing' : 'error' in told ? String(told.error) : show(told.result)
    return `  ${givenUp ? 'given up, later told' : 'told'} ${words}`
  })
  const more = others > 0 ? `, and ${others} more` : ''
  const where = `${name} ${side} message ${message} ${direction}, ${at}`
  return [`${wrong}: ${why} (${where}${more})`, ...told].join('\n')
}

const show = (result: unknown) => inspect(result, { breakLength: Infinity, depth: 4 })
