import { Client } from 'pg'

import type { Stepper } from './stepper.ts'

/** A client for a pool of pg's, each of whose statements goes by a stepper before it is sent. */
export function steppedClient(stepper: Stepper): typeof Client {
  return class SteppedClient extends Client {
    // Nothing but `never` is what all of pg's overloads may return.
    override query(...given: unknown[]): never {
      const query = super.query.bind(this)
      const send = (): unknown => Reflect.apply(query, this, given)
      const [statement] = given
      // By which a client is asked whether it pipelines: it sends nothing.
      if (sendsItself(statement)) return send() as never
      const text = typeof statement === 'string' ? statement : textOf(statement)
      return stepper.pass(text, send, () => this.getTransactionStatus() !== 'I') as never
    }
  }
}

function sendsItself(query: unknown): boolean {
  const { submit } = Object(query) as { readonly submit?: unknown }
  return typeof submit === 'function'
}

function textOf(query: unknown): string {
  const { text } = Object(query) as { readonly text?: unknown }
  if (typeof text === 'string') return text
  throw new Error('a statement that cannot be read cannot be held')
}
