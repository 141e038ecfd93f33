import { sqlState } from '../../src/postgres/sqlstate.ts'
import type { Moves } from './moves.ts'
import type { Trace } from './trace.ts'
import { TransactionState } from './transaction-state.ts'
import { Visibility } from './visibility.ts'

/** Where a participant is: in its own code, at a statement, waiting for the answer to one, or done. */
type Place = 'running' | 'at a statement' | 'sent' | 'ended'

/** What a stepper is told at the start of a schedule. */
interface Pace {
  /** Each statement is a step, also those that nobody else can see. */
  readonly everyStatement: boolean
  readonly trace: Trace
}

/**
 * Holds each statement of one participant until the controller lets it go.
 *
 * Of statements that are sent without waiting each is held as well, in their order: between any two
 * of them the server may let others go on, so that a step for all of them would leave orders out.
 * That they travel together no order depends on; faults strike at what does.
 */
export class Stepper {
  readonly name: string
  readonly transaction = new TransactionState()
  readonly #moves: Moves
  #pace: Pace | undefined
  #visibility = new Visibility()
  #place: Place = 'ended'
  #statement = ''
  #through = false
  /** Settled when the last one that was sent is answered. */
  #turn: Promise<unknown> = Promise.resolve()
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
    this.transaction.begin()
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
    this.transaction.letGo()
    this.#move('running')
    this.#go?.()
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
    if (!this.#pace) return send()
    const passed = this.#turn.then(() => this.#pass(statement, send, inTransaction))
    this.#turn = passed.catch(() => undefined)
    return passed
  }

  async #pass(
    statement: string,
    send: () => unknown,
    inTransaction: () => boolean,
  ): Promise<unknown> {
    const pace = this.#pace
    if (!pace) return send()
    const { transaction } = this
    const isVisible = this.#visibility.isVisible(statement, transaction) || pace.everyStatement
    this.#statement = statement
    if (!this.#through) await this.#held()
    this.#through = !isVisible
    const answered = pace.trace.sent(this.name, statement)
    transaction.sent(statement)
    this.#move('sent')
    try {
      const answer = await send()
      answered('completed')
      transaction.completed(statement, answer)
      return answer
    } catch (error) {
      answered(`failed with ${String(sqlState(error) ?? error)}`)
      transaction.failed()
      throw error
    } finally {
      transaction.answered(inTransaction())
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
