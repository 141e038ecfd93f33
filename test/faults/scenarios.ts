import { createIdempotency } from 'oncely'
import type { Finding, Subject, ToldCall } from 'oncely/testing'

import type { Ground } from './ground.ts'
import { checkNotes } from './check-notes.ts'
import { type Answer, hasty, type HostName, open, Runs } from './notes.ts'
import { type Plan, plans } from './plans.ts'
import { sweeping } from './sweeping.ts'

/** A plan that is carried out on a ground, by a host. */
export interface Scenario {
  readonly name: string
  readonly host: HostName
  readonly subject: Subject<Answer>
  readonly expected: 0 | 1
}

const UNANSWERED = 'first execution, COMMIT unanswered'

export const scenarioNames: readonly string[] = [...Object.keys(plans), UNANSWERED, 'sweep']

export function scenariosOn(ground: Ground): Scenario[] {
  const planned = Object.entries(plans).flatMap(([name, plan]) =>
    plan.hosts.map((host) => ({
      name,
      host,
      subject: subjectOf(ground, plan, host),
      expected: plan.expected,
    })),
  )
  const first = plans['first execution']
  const more = plans.rejection.hosts.flatMap((host): Scenario[] => {
    const unanswered = { ...subjectOf(ground, first, host), url: ground.withoutAnswers }
    return [
      { name: UNANSWERED, host, subject: unanswered, expected: 1 },
      { name: 'sweep', host, subject: sweeping(ground, host), expected: 1 },
    ]
  })
  return [...planned, ...more]
}

function subjectOf(ground: Ground, plan: Plan, host: HostName): Subject<Answer> {
  const runs = new Runs()
  const { db } = ground
  return {
    url: ground.url,
    prepare: async (key) => plan.before?.(createIdempotency(db, hasty), key, runs),
    open(url) {
      const through = open(url, host)
      return {
        async call(key) {
          const answer = await plan.call(through.db, key, runs)
          if (plan.isAnsweredEarly) await through.untilBack()
          return answer
        },
        close: () => through.db.destroy(),
      }
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
