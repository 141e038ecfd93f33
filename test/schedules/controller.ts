import type { Seat } from './seat.ts'
import type { Moves } from './moves.ts'
import { firstWords } from './trace.ts'
import type { Watcher } from './watcher.ts'

/** One who takes part in a schedule. */
export interface Participant {
  readonly seat: Seat
  /** A statement of one that does not wait comes back by itself when it finds a lock held. */
  readonly waits: boolean
}

/** Who could be let go in a step, and which of them was. */
export interface Choice {
  readonly index: number
  /** With the statements that they were at, to know the same choice again. */
  readonly of: readonly string[]
}

/** Brings everybody to rest, and lets one go at a time. */
export class Controller {
  readonly #participants: readonly Participant[]
  readonly #moves: Moves
  readonly #watcher: Watcher

  constructor(participants: readonly Participant[], moves: Moves, watcher: Watcher) {
    this.#participants = participants
    this.#moves = moves
    this.#watcher = watcher
  }

  /** Runs until everybody is at a statement, waits for a lock, or has ended. */
  async settle(): Promise<void> {
    for (;;) {
      const under = this.#participants.filter(({ seat }) => isUnderWay(seat))
      if (under.length === 0) return
      if (this.#canAllWait(under)) {
        const { count } = this.#moves
        const waiting = await this.#watcher.waiting()
        // Nobody has moved meanwhile, so who holds the locks waits here, and who waits stays.
        if (count === this.#moves.count && under.every(({ seat }) => waiting.has(seat.pid))) return
        this.#moves.refuseHang()
      } else {
        await this.#moves.next()
      }
    }
  }

  /** Whether that can be: locks are held by transactions that are open. */
  #canAllWait(under: readonly Participant[]): boolean {
    const open = this.#participants.filter(({ seat }) => seat.stepper.transaction.isOpen)
    return (
      open.length > 1 && under.every(({ seat, waits }) => waits && seat.stepper.place === 'sent')
    )
  }

  /** Those whose next statement may be let go. */
  ready(): readonly Participant[] {
    return this.#participants.filter(({ seat }) => seat.stepper.place === 'at a statement')
  }

  /** Those that wait for a lock. */
  blocked(): readonly Participant[] {
    return this.#participants.filter(({ seat }) => seat.stepper.place === 'sent')
  }
}

function isUnderWay({ stepper }: Seat): boolean {
  return stepper.place === 'running' || stepper.place === 'sent'
}

export function labelOf({ seat: { stepper } }: Participant): string {
  return `${stepper.name} at ${firstWords(stepper.statement)}`
}
