import { AsyncLocalStorage } from 'node:async_hooks'

import type { Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { HttpCall, HttpContext } from './call.ts'

const running = new AsyncLocalStorage<{ call: HttpCall<unknown> | undefined }>()

/**
 * Runs what finds the call wherever it is injected.
 *
 * @returns with what makes it be found no more, also by what goes on.
 */
export function runningWith<DB, Of>(call: HttpCall<DB>, run: () => Of): [Of, forget: () => void] {
  const here: { call: HttpCall<unknown> | undefined } = { call: call as HttpCall<unknown> }
  const forget = () => {
    here.call = undefined
  }
  return [running.run(here, run), forget]
}

/**
 * The call of the request that is served at this moment, for every provider, in whatever scope.
 *
 * @typeParam DB - the host's tables, as its Kysely has them.
 *
 * @example
 * ```ts
 * constructor(@Inject(IdempotentCall) call: IdempotentCall<Database>) {}
 * ```
 */
export class IdempotentCall<DB = unknown> implements HttpCall<DB> {
  /**
   * What the request writes with. It is committed before the answer is sent.
   *
   * @throws OncelyError `call_missing`.
   */
  get tx(): Transaction<DB> {
    return this.#here.tx
  }

  /**
   * Whose call it is, events, the resource, and `reject`.
   *
   * @throws OncelyError `call_missing`.
   */
  get context(): HttpContext {
    return this.#here.context
  }

  /**
   * The content of the request where it was read for its fingerprint, and no parser had read it before;
   * undefined otherwise.
   *
   * @throws OncelyError `call_missing`.
   */
  get body(): Uint8Array | undefined {
    return this.#here.body
  }

  /**
   * The call, or undefined for a request that passes untouched, such as one without a key, outside of one, and behind
   * its answer.
   */
  find(): HttpCall<DB> | undefined {
    return running.getStore()?.call as HttpCall<DB> | undefined
  }

  get #here(): HttpCall<DB> {
    const call = this.find()
    if (call) return call
    throw new OncelyError(
      'call_missing',
      'there is no call here: the route has to be @Idempotent(), and its request to have a key; where it may have none, ask `find`',
    )
  }
}
