import { randomUUID } from 'node:crypto'

import type { Fault, Problem } from 'oncely/testing'

import { judge } from '../../src/testing/judge.ts'
import { readByKind } from '../../src/testing/reading.ts'
import type { ToldCall } from '../../src/testing/retry-until-final.ts'
import { underFault } from '../../src/testing/under-fault.ts'
import { patience, wireKinds } from './exhaustive.ts'
import type { Ground } from './ground.ts'
import { checkNotes, connect, Runs } from './notes.ts'
import { type Answer, plans } from './plans.ts'
import { Random } from './random.ts'
import type { Tally } from './tally.ts'

const CALLERS = 24
/** So few that callers meet under each. */
const KEYS = 12
const CALLS_A_CALLER = 3
/** As many as the longest of the plans has in one direction; what lies behind strikes a retry, or not. */
const MESSAGES = 50

/** What one caller does, all of it drawn from the seed. */
interface Errand {
  readonly key: string
  readonly plan: 'first execution' | 'first execution, plain' | 'joined'
  readonly fault: Fault
}

/**
 * Rounds in which several callers ask for a few keys at once, each call through a proxy of its own with
 * a fault somewhere. The seed draws everything, except how the callers get into each other's way.
 */
export async function soak(
  ground: Ground,
  tally: Tally,
  { seed, minutes }: { readonly seed: number; readonly minutes: number },
): Promise<void> {
  const random = new Random(seed)
  const end = performance.now() + minutes * 60_000
  do {
    const keys = Array.from({ length: KEYS }, () => randomUUID())
    const errands = Array.from({ length: CALLERS }, () =>
      Array.from({ length: CALLS_A_CALLER }, () => draw(random, ground, keys)),
    )
    tally.add('soak', await round(ground, errands))
  } while (performance.now() < end)
}

function draw(random: Random, ground: Ground, keys: readonly string[]): Errand {
  return {
    key: random.of(keys),
    plan: random.of(['first execution', 'first execution, plain', 'joined']),
    fault: {
      kind: random.of(wireKinds(ground)),
      direction: random.of(['to server', 'to client']),
      message: random.upTo(MESSAGES),
      side: random.of(['before', 'after']),
    },
  }
}

async function round(ground: Ground, callers: readonly (readonly Errand[])[]) {
  const runs = new Runs()
  const calls: { readonly errand: Errand; readonly call: ToldCall<Answer> }[] = []
  const faults: Fault[] = []
  await Promise.all(
    callers.map(async (errands) => {
      for (const errand of errands) {
        const { struck, calls: made } = await run(ground, errand, runs)
        if (struck) faults.push(errand.fault)
        calls.push(...made.map((call) => ({ errand, call })))
      }
    }),
  )
  const problems: Problem<Answer>[] = []
  for (const [key, made] of Map.groupBy(calls, ({ errand }) => errand.key)) {
    const told = made.map(({ call }) => call)
    const found = await ground.effects(key)
    const findings = [
      ...judge(told, readByKind, { before: 0, found, expected: 1 }),
      ...(await checkNotes(ground.db, runs, key, told)),
    ]
    const [first] = made
    if (first) {
      const { fault } = first.errand
      problems.push(...findings.map((finding) => ({ ...finding, fault, key, calls: told })))
    }
  }
  return { faults, problems }
}

function run(ground: Ground, { key, plan, fault }: Errand, runs: Runs) {
  const { host, call } = plans[plan]
  const open = (through: string) => {
    const db = connect(through, host)
    return { call: (key: string) => call(db, key, runs), close: () => db.destroy() }
  }
  return underFault({ ...ground, open }, fault, key, patience)
}
