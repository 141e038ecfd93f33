import { randomBytes } from 'node:crypto'

import { type CompiledQuery, CompiledQuery as Query } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'

const PREFIX = `oncely_${randomBytes(8).toString('hex')}`
let count = 0

/** A savepoint by a name that nobody can use for one of their own, which would hide it. */
export class Savepoint {
  readonly #own: OwnTables
  readonly #name: string

  constructor(own: OwnTables) {
    this.#own = own
    // In a transaction of ours there is one, by a name that stays the same, so that it can be prepared.
    this.#name = own.sharesTurns ? PREFIX : `${PREFIX}_${(count += 1)}`
  }

  set(): Promise<unknown> {
    return this.#own.run(Query.raw(`savepoint ${this.#name}`))
  }

  /** Undoes what came behind it. It is still set afterwards. */
  get rollback(): CompiledQuery {
    return Query.raw(`rollback to savepoint ${this.#name}`)
  }

  /** Undoes what came behind it, and the savepoint as well. */
  async undo(): Promise<void> {
    await this.#own.run(this.rollback)
    await this.release()
  }

  async release(): Promise<void> {
    await this.#own.run(Query.raw(`release savepoint ${this.#name}`))
  }
}
