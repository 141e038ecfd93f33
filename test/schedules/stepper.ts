import { sqlState } from '../../src/postgres/sqlstate.ts'
import type { Moves } from './moves.ts'
import type { Trace } from './trace.ts'
import { changesRecords, setsClock, Visibility } from './visibility.ts'

/** Where a participant is: in its own code, at a statement, waiting for the answer to one, or done. */
type Place = 'running' | 'at a statement' | 'sent' | 'ended'

/** What a stepper is told at the start of a schedule. */
interface Pace {
  /** Each statement is a step, also those that nobody else can see. */
  readonly everyStatement: boolean
  readonly trace: Trace
}

/** Holds each statement of one participant until the controller lets it go. */
export class Stepper {
  readonly name: string
  readonly #moves: Moves
  #pace: Pace | undefined
  #visibility = new Visibility()
  #place: Place = 'ended'
  #statement = ''
  #through = false
  #hasSetClock = false
  #isOpen = false
  #hasEndedOne = false
  #holdsRecord = false
  #go: (() => void) | undefined

  constructor(name: string, moves: Moves) {
    this.name = name
    this.#moves = moves
  }

  get place(): Place {
    return this.#place
  }

  /** The statement that it is at, or has sent last. */
  get statement(): string {
    return this.#statement
  }

  /** From here on statements are held. */
  begin(pace: Pace): void {
    this.#pace = pace
    this.#visibility = new Visibility()
    this.#through = false
    this.#isOpen = false
    this.#holdsRecord = false
    this.#move('running')
  }

  /** From here on statements are not held any more. */
  end(): void {
    this.#pace = undefined
    this.#move('ended')
    this.#go?.()
  }

  /**
   * Lets one statement go, with those before it that nobody else can see.
   */
  letGo(): void {
    this.#hasSetClock = false
    this.#hasEndedOne = false
    this.#move('running')
    this.#go?.()
  }

  /** Whether a window begins with one of the statements that were let go last. */
  get hasSetClock(): boolean {
    return this.#hasSetClock
  }

  /** Whether it may hold locks, or make a change that others see when it ends. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether its open transaction has claimed the key, or has changed or deleted its record. */
  get holdsRecord(): boolean {
    return this.#holdsRecord
  }

  /** Whether a transaction of its ended since statements were let go last. */
  get hasEndedOne(): boolean {
    return this.#hasEndedOne
  }

  /**
   * To be called around each statement.
   *
   * @param inTransaction - what the server has said last.
   */
  async pass(
    statement: string,
    send: () => unknown,
    inTransaction: () => boolean,
  ): Promise<unknown> {
    const pace = this.#pace
    if (!pace) return send()
    const isVisible = this.#visibility.isVisible(statement) || pace.everyStatement
    this.#statement = statement
    if (!this.#through) await this.#held()
    this.#through = !isVisible
    this.#hasSetClock ||= setsClock(statement)
    const answered = pace.trace.sent(this.name, statement)
    this.#isOpen = true
    this.#move('sent')
    try {
      const answer = await send()
      answered('completed')
      this.#holdsRecord ||= changesRecords(statement) && hasRows(answer)
      return answer
    } catch (error) {
      answered(`failed with ${String(sqlState(error) ?? error)}`)
      throw error
    } finally {
      this.#isOpen = inTransaction()
      this.#hasEndedOne ||= !this.#isOpen
      this.#holdsRecord &&= this.#isOpen
      if (this.#pace) this.#move('running')
    }
  }

  async #held(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.#go = () => {
      resolve(undefined)
    }
    this.#move('at a statement')
    await promise
  }

  #move(place: Place): void {
    this.#place = place
    this.#moves.note()
  }
}

/** Whether a statement has changed something: a claim that found a record has not. */
function hasRows(answer: unknown): boolean {
  const { rowCount } = Object(answer) as { readonly rowCount?: unknown }
  return typeof rowCount === 'number' && rowCount > 0
}
