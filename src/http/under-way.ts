import { OncelyError } from '../errors.ts'
import type { HttpCall } from './call.ts'

/** The calls whose handlers run at this moment, by their request. */
export class UnderWay<DB, Request extends object> {
  readonly #calls = new WeakMap<Request, HttpCall<DB>>()

  set(request: Request, call: HttpCall<DB>): void {
    this.#calls.set(request, call)
  }

  /** @throws OncelyError `call_missing`. */
  of(request: Request): HttpCall<DB> {
    const call = this.#calls.get(request)
    if (call) return call
    throw new OncelyError(
      'call_missing',
      'this request has no call: the middleware has to be in front of the handler, for this method, and the request to have a key',
    )
  }
}
