import { OncelyError } from '../errors.ts'
import type { HttpCall } from './call.ts'

/** Which operations are under way for a request, by whatever instance: a second one would wait for the first. */
const operations = new WeakMap<object, Set<string>>()

/** The calls whose handlers run at this moment, by their request. */
export class UnderWay<DB, Request extends object> {
  readonly #calls = new WeakMap<Request, HttpCall<DB>>()

  /**
   * Serves a request, whose call is known until that is over.
   *
   * @throws OncelyError `call_under_way` for one that has a call already, for which it would wait for ever.
   */
  async during<Served>(
    request: Request,
    operation: string,
    serve: () => Promise<Served>,
  ): Promise<Served> {
    const under = operations.get(request) ?? new Set()
    if (under.has(operation)) {
      throw new OncelyError(
        'call_under_way',
        'what makes it idempotent is in front of the handler twice: it would wait for itself',
      )
    }
    operations.set(request, under.add(operation))
    try {
      return await serve()
    } finally {
      under.delete(operation)
      this.#calls.delete(request)
    }
  }

  set(request: Request, call: HttpCall<DB>): void {
    this.#calls.set(request, call)
  }

  find(request: Request): HttpCall<DB> | undefined {
    return this.#calls.get(request)
  }

  /** @throws OncelyError `call_missing`. */
  of(request: Request): HttpCall<DB> {
    const call = this.find(request)
    if (call) return call
    throw new OncelyError(
      'call_missing',
      'this request has no call: the middleware has to be in front of the handler, for this method, the request to have a key, and the answer not to have been sent; where it may have none, ask `find`',
    )
  }
}
