import { sql } from 'kysely'
import { type CheckOptions, checkUnderFaults, type FaultKind } from 'oncely/testing'

import { crashingGround } from './crashed.ts'
import type { Ground } from './ground.ts'
import { bundleCaller, killedCaller } from './killed.ts'
import type { Answer } from './notes.ts'
import { scenariosOn } from './scenarios.ts'
import type { Tally } from './tally.ts'

/** Which of the faults to try: all whose scenario and whose name contain these texts, on that host. */
export interface Selection {
  readonly scenario: string
  readonly fault: string
  /** On every host, if it is empty. */
  readonly host: string
}

/** Less than that of any caller, since so many of them wait. */
export const patience: CheckOptions<Answer> = {
  patienceMs: 300,
  pauseMs: 10,
  attempts: 2_000,
  concurrency: 16,
}

/** Towards its end a scenario waits for a few faults alone. */
const AT_ONCE = 2

export const faultNames = 'cut half-open stalled cancelled terminated SIGKILL crash'.split(' ')

/** What can become of a connection. */
export function wireKinds({ db }: Ground): readonly FaultKind[] {
  const terminated: FaultKind = {
    name: 'terminated',
    act: async (pid) =>
      pid !== undefined && sql`select pg_terminate_backend(${pid}, 5000)`.execute(db),
  }
  return ['cut', 'half-open', 'stalled', 'cancelled', terminated]
}

/** At every message of every scenario, each fault that a connection can have. */
export async function strikeEverywhere(ground: Ground, tally: Tally, selection: Selection) {
  const kinds = wireKinds(ground).filter((kind) => nameOf(kind).includes(selection.fault))
  if (kinds.length === 0) return
  const left = selected(ground, selection)
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { subject, expected } = next
      tally.add(next, await checkUnderFaults(subject, { ...patience, kinds, expected }))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** At every message, the end of the calling process. */
export async function killEverywhere(ground: Ground, tally: Tally, selection: Selection) {
  if (!'SIGKILL'.includes(selection.fault)) return
  await bundleCaller()
  // Whoever joins a transaction waits for each statement, on whatever host.
  const killed = selected(ground, selection).filter(
    ({ name, host }) =>
      ['first execution', 'rejection'].includes(name) ||
      (name === 'joined' && host !== 'pipelining'),
  )
  await Promise.all(
    killed.map(async (scenario) => {
      const { expected } = scenario
      const { subject, killed } = killedCaller(scenario)
      // Whoever starts a process has to have the patience for it.
      const options = { ...patience, patienceMs: 10_000, concurrency: 1, kinds: [killed], expected }
      tally.add(scenario, await checkUnderFaults(subject, options))
    }),
  )
}

/** At every message, the crash of the server; one at a time, on a server of its own. */
export async function crashEverywhere(tally: Tally, selection: Selection) {
  if (!'crash'.includes(selection.fault)) return
  const { ground, crash } = await crashingGround()
  try {
    for (const scenario of selected(ground, selection)) {
      const { name, subject, expected } = scenario
      if (!['first execution', 'rejection'].includes(name)) continue
      const options = { ...patience, patienceMs: 10_000, concurrency: 1, kinds: [crash], expected }
      tally.add(scenario, await checkUnderFaults(subject, options))
    }
  } finally {
    await ground.close()
  }
}

const nameOf = (kind: FaultKind) => (typeof kind === 'string' ? kind : kind.name)

function selected(ground: Ground, { scenario, host: wanted }: Selection) {
  return scenariosOn(ground).filter(
    ({ name, host }) => name.includes(scenario) && ['', host].includes(wanted),
  )
}
