import { createIdempotency, type IdempotencyOptions } from 'oncely'

import { Caller, type Told } from './caller.ts'
import type { Participant } from './controller.ts'
import type { Flow } from './flow.ts'
import type { CallerRole, Janitor, Scenario } from './scenario.ts'
import type { Seat } from './seat.ts'

/** One who takes part, and what it does. */
export interface Player extends Participant {
  readonly name: string
  /** Undefined of a janitor. */
  readonly caller?: Caller
  /** Never throws. */
  readonly play: (key: string) => Promise<Told>
}

export function playersOf({ pair, company }: Scenario, flow: Flow): readonly Player[] {
  const { options = {}, janitor: does } = company
  const called = (name: string, role: CallerRole, seat: Seat): Player => {
    const caller = new Caller(name, role, seat.db, options)
    return { name, seat, waits: role.waits, caller, play: (key) => caller.call(key) }
  }
  return [
    called('A', pair.first, flow.first),
    ...(pair.second ? [called('B', pair.second, flow.second)] : []),
    ...(does ? [janitor(does, options, flow.janitor)] : []),
  ]
}

function janitor(does: Janitor, options: IdempotencyOptions, seat: Seat): Player {
  const idempotency = createIdempotency(seat.db, options)
  const clear = async (): Promise<Told> => {
    if (does === 'sweeps') return cleaned((await idempotency.sweep()).cleared, 0)
    return cleaned(0, (await idempotency.purge()).purged)
  }
  const play = () => clear().catch((error: unknown): Told => ({ kind: 'failed', error }))
  return { name: seat.stepper.name, seat, waits: true, play }
}

/** What a janitor was told. */
export function cleaned(cleared: number, purged: number): Told {
  return { kind: `cleared ${cleared}, purged ${purged}` }
}
