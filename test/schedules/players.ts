import { createIdempotency, createSweeper } from 'oncely'

import { Caller, type Told } from './caller.ts'
import type { Participant } from './controller.ts'
import type { Flow } from './flow.ts'
import type { Company, Scenario } from './scenario.ts'

/** One who takes part, and what it does. */
export interface Player extends Participant {
  readonly name: string
  /** Undefined of a janitor. */
  readonly caller?: Caller
  /** Never throws. */
  readonly play: (key: string) => Promise<Told>
}

export function playersOf({ pair, company }: Scenario, flow: Flow): readonly Player[] {
  const callers = (
    [
      ['A', pair.first, flow.first],
      ['B', pair.second, flow.second],
    ] as const
  ).map(([name, role, seat]): Player => {
    const caller = new Caller(name, role, seat.db, company.options)
    return { name, seat, waits: role.waits, caller, play: (key) => caller.call(key) }
  })
  return company.janitor ? [...callers, janitor(company, flow)] : callers
}

function janitor({ janitor: how, options = {} }: Company, { janitor: seat }: Flow): Player {
  const idempotency = createIdempotency(seat.db, options)
  const clear = async (): Promise<Told> => {
    switch (how) {
      case 'sweeps':
        return cleaned((await idempotency.sweep()).cleared, 0)
      case 'purges':
        return cleaned(0, (await idempotency.purge()).purged)
      default: {
        const { cleared, purged } = await createSweeper(idempotency).runOnce()
        return cleaned(cleared, purged)
      }
    }
  }
  const play = () => clear().catch((error: unknown): Told => ({ kind: 'failed', error }))
  return { name: seat.stepper.name, seat, waits: true, play }
}

/** What a janitor was told. */
export function cleaned(cleared: number, purged: number): Told {
  return { kind: `cleared ${cleared}, purged ${purged}` }
}
