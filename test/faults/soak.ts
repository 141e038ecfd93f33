import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'

import type { Fault, Problem } from 'oncely/testing'

import type { ToldCall } from '../../src/testing/calls.ts'
import { judge } from '../../src/testing/judge.ts'
import { readByKind } from '../../src/testing/reading.ts'
import { underFault } from '../../src/testing/under-fault.ts'
import { patience, wireKinds } from './exhaustive.ts'
import type { Arguments } from './arguments.ts'
import type { Ground } from './ground.ts'
import { checkNotes } from './check-notes.ts'
import { type Answer, connect, type HostName, Runs } from './notes.ts'
import { plans } from './plans.ts'
import { Random } from './random.ts'
import type { Tally } from './tally.ts'

const CALLERS = 24
/** So few that callers meet under each. */
const KEYS = 12
const CALLS_A_CALLER = 3
/** About as many as a first execution has; what lies behind strikes a retry, or not. */
const MESSAGES = { 'to server': 28, 'to client': 50 } as const

/** What one caller does, all of it drawn from the seed. */
interface Errand {
  readonly key: string
  readonly plan: 'first execution' | 'first execution, plain' | 'joined'
  readonly host: HostName
  readonly fault: Fault
}

/**
 * Rounds in which several callers ask for a few keys at once, each call through a proxy of its own with
 * a fault somewhere. Seed and round draw everything, except how the callers get into each other's way.
 */
export async function soak(
  ground: Ground,
  tally: Tally,
  { seed, minutes, round: only }: Pick<Arguments, 'seed' | 'minutes' | 'round'>,
): Promise<void> {
  const end = performance.now() + minutes * 60_000
  const first = only ?? 1
  for (let round = first; round === first || (!only && performance.now() < end); round += 1) {
    const random = new Random(seed + round * 7_919)
    const keys = Array.from({ length: KEYS }, () => randomUUID())
    const errands = Array.from({ length: CALLERS }, () =>
      Array.from({ length: CALLS_A_CALLER }, () => draw(random, ground, keys)),
    )
    const { faults, problems } = await run(ground, errands)
    tally.add({ name: 'soak', host: 'all' }, { faults, problems })
    if (problems.length > 0) {
      const drawn = errands.flat().filter(({ key }) => problems.some((found) => found.key === key))
      console.log(`round ${round} of seed ${seed}:`, inspect(drawn, { depth: 4 }))
    }
  }
}

function draw(random: Random, ground: Ground, keys: readonly string[]): Errand {
  const direction = random.of(['to server', 'to client'])
  const key = random.of(keys)
  const plan = random.of(['first execution', 'first execution, plain', 'joined'])
  return {
    key,
    plan,
    host: random.of<HostName>(plans[plan].hosts),
    fault: {
      kind: random.of(wireKinds(ground)),
      direction,
      message: random.upTo(MESSAGES[direction]),
      side: random.of(['before', 'after']),
    },
  }
}

async function run(ground: Ground, callers: readonly (readonly Errand[])[]) {
  const runs = new Runs()
  const calls: {
    readonly errand: Errand
    readonly call: ToldCall<Answer>
    readonly unclosed: string | undefined
  }[] = []
  const faults: Fault[] = []
  await Promise.all(
    callers.map(async (errands) => {
      for (const errand of errands) {
        const { struck, calls: made, unclosed } = await strike(ground, errand, runs)
        if (struck) faults.push(errand.fault)
        calls.push(...made.map((call) => ({ errand, call, unclosed })))
      }
    }),
  )
  const problems: Problem<Answer>[] = []
  for (const [key, made] of Map.groupBy(calls, ({ errand }) => errand.key)) {
    const told = made.map(({ call }) => call)
    const findings = judge(told, readByKind, await ground.effects(key), { effects: 1, first: true })
    findings.push(...(await checkNotes(ground.db, runs, key, told)))
    for (const { unclosed } of made) {
      if (unclosed)
        findings.push({ wrong: 'stuck', why: `a pool could not be closed: ${unclosed}` })
    }
    const [first] = made
    if (first) {
      const { fault } = first.errand
      problems.push(
        ...findings.map((finding) => ({ ...finding, fault, at: 'the soak', key, calls: told })),
      )
    }
  }
  return { faults, problems }
}

function strike(ground: Ground, { key, plan, host, fault }: Errand, runs: Runs) {
  const { call } = plans[plan]
  const open = (through: string) => {
    const db = connect(through, host)
    return { call: (key: string) => call(db, key, runs), close: () => db.destroy() }
  }
  return underFault({ ...ground, open }, fault, key, patience)
}
