import { type CompiledQuery, isAbortedTransactionError } from 'kysely'

import type { ClientOf } from './client.ts'
import type { ConnectionControl } from './connection-control.ts'
import type { LastStatements } from './ending.ts'
import type { PreparedNames } from './prepared-names.ts'
import { isRefusalOfCommit } from './sqlstate.ts'
import { OVER, within } from './within.ts'

/** For a ROLLBACK that nobody waits for. */
const UNANSWERED_MS = 10_000

const NONE: LastStatements = { queries: [], failed: (error) => error }

/** One holder's time with a connection. */
export class Hold implements ConnectionControl {
  tainted = false
  rolledBack = false
  rollsBackBehind = false
  notBegun: { readonly error: unknown } | undefined
  readonly #client: ClientOf
  #begun: Promise<void> | undefined
  #aheadOfBegin = false
  #last: LastStatements = NONE
  #refusal: { readonly error: unknown; readonly answer: unknown } | undefined
  #abandoned: Error | undefined
  /** Of what is under way. */
  readonly #ends = new Set<(reason: Error) => void>()
  readonly #names: PreparedNames
  readonly #connection: object

  constructor(connection: object, client: ClientOf, names: PreparedNames) {
    this.#connection = connection
    this.#client = client
    this.#names = names
  }

  get sharesTurns(): boolean {
    return this.#client.turns !== undefined
  }

  gather(): void {
    this.#client.turns?.gather()
  }

  get begun(): Promise<void> | undefined {
    return this.#begun
  }

  beginAhead(): void {
    this.#aheadOfBegin = this.sharesTurns
  }

  commitBehind(queries: readonly CompiledQuery[], failed: (error: unknown) => unknown): void {
    this.#last = { queries, failed }
  }

  rollBackBehind(): void {
    this.rollsBackBehind = this.#client.sendsOneByOne === true
  }

  /** Lets go of the connection before it is rolled back: what anybody sends on it is behind that. */
  rollingBackBehind(rollBack: () => Promise<void>): void {
    const { turns, stream } = this.#client
    const destroy = () => stream?.destroy()
    const rolledBack = turns?.linger(rollBack, () => {
      // Whoever has the connection waits behind it.
      void within(UNANSWERED_MS, over).then((answer) => answer === OVER && destroy())
    })
    // The transaction may still be open where it failed.
    const over = Promise.resolve(rolledBack).catch(destroy)
  }

  /** @returns a promise to be waited for; none when the holder sends on before BEGIN is answered. */
  beginning(begin: () => Promise<void>): Promise<void> | undefined {
    this.rolledBack = false
    this.rollsBackBehind = false
    this.#refusal = undefined
    this.#last = NONE
    this.notBegun = undefined
    if (this.#aheadOfBegin) this.gather()
    const noted = this.unlessAbandoned(begin()).catch((error: unknown) => {
      // It may have begun all the same, such as behind a time-out of the client.
      this.tainted = true
      this.notBegun = { error }
      throw error
    })
    this.#begun = undefined
    if (!this.#aheadOfBegin) return noted
    this.#aheadOfBegin = false
    this.#begun = noted.catch(() => undefined)
    return undefined
  }

  /** Sends what goes in front of COMMIT, and COMMIT. The first of them that fails is thrown. */
  async committing(
    send: (query: CompiledQuery) => Promise<unknown>,
    commit: () => Promise<void>,
  ): Promise<void> {
    const { queries, failed } = this.#last
    const { prepares } = this
    if (queries.length > 0) this.gather()
    const sent = [...queries.map((query) => send(query)), commit()]
    const answers = await this.unlessAbandoned(Promise.allSettled(sent))
    const place = answers.findIndex((answer) => answer.status === 'rejected')
    const first = answers[place]
    if (first?.status !== 'rejected') return
    if (prepares) this.#names.isUnprepared(first.reason)
    const isOfCommit = place === queries.length
    const error: unknown = isOfCommit ? first.reason : failed(first.reason)
    const last = answers.at(-1)
    this.#refusal = { error, answer: last?.status === 'rejected' ? last.reason : undefined }
    throw error
  }

  isRefusalOfCommit(error: unknown): boolean {
    // A COMMIT that ended the transaction by a rollback is its server's own word.
    if (!this.#refusal || error !== this.#refusal.error) return false
    const { answer } = this.#refusal
    return isAbortedTransactionError(answer) || (this.rolledBack && isRefusalOfCommit(answer))
  }

  get prepares(): boolean {
    return this.sharesTurns && this.#names.on
  }

  answeredBy(pid: string): void {
    this.#names.answeredBy(this.#connection, pid)
  }

  isUnprepared(error: unknown): boolean {
    return this.#names.isUnprepared(error)
  }

  /** Whether a ROLLBACK would be answered, and has anything to roll back. */
  get canRollBack(): boolean {
    return !this.#abandoned && !this.notBegun
  }

  abandon(reason: Error): void {
    this.tainted = true
    this.#abandoned ??= reason
    for (const end of this.#ends) end(reason)
  }

  unlessAbandoned<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#abandoned) reject(this.#abandoned)
      else this.#ends.add(reject)
      promise.then(resolve, reject).finally(() => this.#ends.delete(reject))
    })
  }
}
