import { askAgain } from './ask-again.ts'
import type { Flow } from './flow.ts'
import { type Change, type History, historyOf } from './history.ts'
import { cleaned } from './players.ts'
import { sightOf, type Scenario } from './scenario.ts'
import type { Course, Ended } from './schedule.ts'
import { shown, untruths } from './truth.ts'
import type { Seat } from './seat.ts'
import type { Left } from './watcher.ts'

/** What is to be said of one schedule. */
export interface Verdict {
  /** What everybody was told and what was left, equal for equal outcomes. */
  readonly outcome: string
  readonly problems: readonly string[]
}

/** Failures that were nobody's to hear of; put there by the process's own listener. */
export const unhandled: unknown[] = []

/** Checks one schedule that has ended, and asks again behind it. */
export async function judge(
  flow: Flow,
  scenario: Scenario,
  key: string,
  { looks, movers, holders, ended }: Course,
): Promise<Verdict> {
  const { company } = scenario
  const history = historyOf(looks, movers, company.janitor)
  const seats = [flow.first, flow.second, flow.janitor]
  const pids = seats.map(({ pid }) => pid)
  const { states, ...left } = await flow.watcher.left(key, sightOf(company), pids)
  const problems = [
    ...history.problems,
    ...wrongIn(left, history),
    ...ended.flatMap((one) => wrongAbout(one, holders, history)),
    ...leaksOf(seats, states),
  ]
  const told = ended.map(({ player, told: by }) => `${player.name}: ${shown(by)}`)
  // Whose attempt it was, the response tells; which, chance.
  const records = left.records.map((record) => ({ ...record, attempt: undefined }))
  const outcome = JSON.stringify({ told, ...left, records })
  problems.push(...(await askAgain(flow, key, company, left)))
  problems.push(...unhandled.splice(0).map((reason) => `unhandled: ${String(reason)}`))
  return { outcome, problems }
}

/** What is committed is what the record has told of, with an event for each row. */
function wrongIn({ rows, events, records }: Omit<Left, 'states'>, { changes }: History): string[] {
  const problems: string[] = []
  const runs = runsOf(changes)
  // A key that purge has opened may be used once more.
  const most = 1 + changes.filter(({ what }) => what === 'deleted').length
  if (rows.length > most) problems.push(`${rows.length} executions are committed`)
  if (rows.join() !== runs) problems.push(`rows of [${rows.join()}], records told of [${runs}]`)
  if (events.join() !== runs) problems.push(`events of [${events.join()}], and not of [${runs}]`)
  if (records.length > 1) problems.push(`${records.length} records`)
  if (records.some(({ state }) => state === 'claimed')) problems.push('a claim was committed')
  return problems
}

function runsOf(changes: readonly Change[]): string {
  const stored = changes.filter(({ what }) => what === 'stored')
  return stored
    .map(({ run }) => run)
    .sort()
    .join()
}

function wrongAbout(
  { player, told, span }: Ended,
  holders: Course['holders'],
  history: History,
): string[] {
  const count = (wanted: Change['what']) =>
    history.changes.filter(({ what, by }) => what === wanted && by === player.name).length
  if (!player.caller) {
    const right = cleaned(count('cleared'), count('deleted'))
    if (told.kind === right.kind) return []
    return [`${player.name} was told ${shown(told)}, and it was ${right.kind}`]
  }
  const isKeptOut = holders
    .slice(span.from, span.to + 1)
    .some((names) => names.some((name) => name !== player.name))
  return untruths({ caller: player.caller, told, span, isKeptOut }, history)
}

/** Connections that are not back, and transactions that are open. */
function leaksOf(seats: readonly Seat[], states: readonly string[]): string[] {
  const away = seats.filter((seat) => !seat.atRest()).map(({ stepper }) => stepper.name)
  const problems = away.map((name) => `${name} has not given its connection back`)
  if (states.some((state) => state !== 'idle') || states.length !== seats.length) {
    problems.push(`the connections are left ${states.join()}`)
  }
  return problems
}
