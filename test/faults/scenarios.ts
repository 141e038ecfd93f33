import { createIdempotency } from 'oncely'
import type { Finding, Subject, ToldCall } from 'oncely/testing'

import type { Ground } from './ground.ts'
import { checkNotes } from './check-notes.ts'
import { type Answer, connect, hasty, Runs } from './notes.ts'
import { type Plan, plans } from './plans.ts'
import { sweeping } from './sweeping.ts'

/** A plan that is carried out on a ground. */
export interface Scenario {
  readonly name: string
  readonly subject: Subject<Answer>
  readonly expected: 0 | 1
}

const UNANSWERED = 'first execution, COMMIT unanswered'

export const scenarioNames: readonly string[] = [...Object.keys(plans), UNANSWERED, 'sweep']

export function scenariosOn(ground: Ground): Scenario[] {
  const planned = Object.entries(plans).map(([name, plan]) => ({
    name,
    subject: subjectOf(ground, plan),
    expected: plan.expected,
  }))
  const unanswered = { ...subjectOf(ground, plans['first execution']), url: ground.withoutAnswers }
  return [
    ...planned,
    { name: UNANSWERED, subject: unanswered, expected: 1 },
    { name: 'sweep', subject: sweeping(ground), expected: 1 },
  ]
}

function subjectOf(ground: Ground, plan: Plan): Subject<Answer> {
  const runs = new Runs()
  const { db } = ground
  return {
    url: ground.url,
    prepare: async (key) => plan.before?.(createIdempotency(db, hasty), key, runs),
    open(url) {
      const through = connect(url, plan.host)
      return { call: (key) => plan.call(through, key, runs), close: () => through.destroy() }
    },
    effects: (key) => ground.effects(key),
    check: async (key, calls) => [
      ...(await checkNotes(db, runs, key, calls)),
      ...unexpected(calls, plan.kinds),
    ],
  }
}

function unexpected(calls: readonly ToldCall<Answer>[], kinds: readonly string[]): Finding[] {
  return calls.flatMap(({ told }) => {
    if (!told || 'error' in told || ['in_progress', ...kinds].includes(told.result.kind)) return []
    return [{ wrong: 'misreported' as const, why: `${told.result.kind} was told` }]
  })
}
