// How often a call waits for the server, counted between the two; see bench/turns.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { budgetOf, extraOf } from '../../bench/turns/budget.ts'
import {
  type Business,
  createBusiness,
  type TurnCase,
  type TurnHost,
  turnCases,
} from '../../bench/turns/cases.ts'
import { type Connection, countCases, type Counted } from '../../bench/turns/count.ts'
import { startTurnCounter, type TurnCounter } from '../../bench/turns/counter.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const direct = database.connect<Business>({ schema: null, manners: {} })
let counter: TurnCounter | undefined

before(async () => {
  counter = await startTurnCounter(database.url)
})
after(() => counter?.close())

const promised = turnCases.filter(({ of }) => of === 'first execution')

async function count(
  host: TurnHost,
  connection: Connection,
  cases = turnCases,
): Promise<readonly Counted[]> {
  ok(counter)
  await createBusiness.execute(direct)
  return countCases({ counter, direct }, cases, host, connection)
}

/** What was promised and not kept, as it is told. */
function missed(counted: readonly Counted[]): string[] {
  return counted.flatMap((one) => {
    const budget = budgetOf(one)
    return !budget || budget.kept
      ? []
      : [`${one.case.name}: ${one.turns} turns, bare ${one.bare}: not ${budget.text}`]
  })
}

const sharing = (['pipelining', 'oncelyDialect'] as const).flatMap((host) =>
  (['fresh', 'warm'] as const).map((connection) => ({ host, connection })),
)

for (const { host, connection } of sharing) {
  describe(`where statements share turns, ${host}, on a ${connection} connection`, () => {
    let counted: readonly Counted[] = []
    before(async () => {
      counted = await count(host, connection)
    })
    const named = (name: string) => {
      const found = counted.find((one) => one.case.name === name)
      ok(found, name)
      return found
    }

    it('a first execution has no turn more than the bare transaction, and a replay has one', () => {
      deepStrictEqual(missed(counted), [])
      for (const statements of [0, 1, 3]) {
        const fn = `fn of ${statements} statement${statements === 1 ? '' : 's'}`
        const first = named(`first execution, ${fn}`)
        deepStrictEqual([extraOf(first), first.bare], [0, 2 + statements])
      }
      strictEqual(named('replay').turns, 1)
    })

    it("the claim travels behind a BEGIN that was not waited for, the host's statements never", () => {
      const [claim = []] = named('first execution, fn of 1 statement').recorded
      ok(claim.some(isBegin) && claim.some((statement) => /insert into "idem"/.test(statement)))
      for (const { case: of, recorded } of counted) {
        if (runsHosts(of)) ok(recorded.flat().some(isHosts), of.name)
        const behind = recorded.filter((turn) => turn.some(isBegin) && turn.some(isHosts))
        deepStrictEqual(behind, [], of.name)
      }
    })
  })
}

it('where they do not, a first execution has at most three turns more', async () => {
  deepStrictEqual(missed(await count('plain', 'fresh', promised)), [])
})

/** The function, the resolver, or `authorize`. */
function runsHosts({ statements, before: earlier, kind, name }: TurnCase): boolean {
  return (statements > 0 && !earlier) || kind === 'duplicate' || name.includes('authorize')
}

function isBegin(statement: string): boolean {
  return /^(begin|start transaction)/i.test(statement)
}

function isHosts(statement: string): boolean {
  return statement.includes('turn_notes')
}
