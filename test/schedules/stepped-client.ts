import type { QueryResult } from 'kysely'
import { Client } from 'pg'

import { Batch } from '../../src/postgres/batch.ts'
import { loadNodePostgres } from '../../src/postgres/node-postgres.ts'
import { sendsItself } from '../support/texts-alone.ts'
import type { Stepper } from './stepper.ts'

/**
 * A client for a pool of pg's, each of whose statements goes by a stepper before it is sent.
 *
 * @param sharesTurns - whether it takes a batch of statements.
 */
export function steppedClient(stepper: Stepper, sharesTurns: boolean): typeof Client {
  return class SteppedClient extends Client {
    // Nothing but `never` is what all of pg's overloads may return.
    override query(...given: unknown[]): never {
      const send = (): unknown => this.#send(...given)
      const [statement] = given
      if (statement instanceof Batch && sharesTurns) {
        // By which a client is asked whether it takes one: it sends nothing.
        if (statement.parts.length === 0) return send() as never
        return this.#step(statement.parts) as never
      }
      if (sendsItself(statement)) throw new Error('a text, please')
      const text = typeof statement === 'string' ? statement : textOf(statement)
      return stepper.pass(text, send, this.#inTransaction) as never
    }

    readonly #inTransaction = () => this.getTransactionStatus() !== 'I'

    #send(...given: unknown[]): unknown {
      return Reflect.apply(super.query.bind(this), this, given)
    }

    /** Sends one after the other, skips what is behind one that fails, and answers for all at once. */
    async #step(parts: Batch['parts']): Promise<void> {
      const answers: (() => void)[] = []
      let failure: { readonly error: unknown } | undefined
      for (const part of parts) {
        const { resolve, reject } = part
        try {
          if (!failure) {
            const send = async () => {
              const result = await this.#alone(part)
              answers.push(() => {
                resolve(result)
              })
              return part.answer
            }
            await stepper.pass(part.text, send, this.#inTransaction)
            continue
          }
        } catch (error) {
          failure = { error }
        }
        const { error } = failure
        answers.push(() => {
          reject(error)
        })
      }
      for (const answer of answers) answer()
    }

    /** Sends a part as a batch of its own. */
    async #alone(part: Batch['parts'][number]): Promise<QueryResult<never>> {
      const driver = await loadNodePostgres()
      if (!driver) throw new Error('there was a batch of it')
      const batch = new Batch(driver)
      batch.parts.push(part)
      return new Promise((resolve, reject) => {
        Object.assign(part, { resolve, reject })
        this.#send(batch)
      })
    }
  }
}

function textOf(query: unknown): string {
  const { text } = Object(query) as { readonly text?: unknown }
  if (typeof text === 'string') return text
  throw new Error('a statement that cannot be read cannot be held')
}
