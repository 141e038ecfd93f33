import { invalid } from '../checks.ts'
import type { Idempotency } from '../idempotency.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import { runningWith } from './nest-call.ts'
import { type CallHandlerLike, type ExecutionContextLike, lastOf } from './nest-like.ts'
import { platformOf } from './nest-platform.ts'
import {
  METHODS,
  type OncelyModuleOptions,
  refuseStream,
  type Route,
  routeOf,
} from './nest-route.ts'
import type { TakenResponse } from './taken-response.ts'
import { UnderWay } from './under-way.ts'
import { serveWritten } from './written.ts'

/** What NestJS answers a request by: the method has its own answer sent meanwhile. */
const NOTHING = [undefined] as const

/** In front of every method, and of every other interceptor; those that are not marked pass untouched. */
export class IdempotencyInterceptor<DB, Request extends object> {
  readonly #options: OncelyModuleOptions<DB, Request>
  readonly #calls = new UnderWay<DB, Request>()
  readonly #endpoints = new Map<object, Endpoint<DB, Request>>()

  /** @throws OncelyError `invalid_options`. */
  constructor(options: OncelyModuleOptions<DB, Request>) {
    this.#options = options
    // What is wrong is told when the module is made, and not by its first request.
    this.#made({ options: { operation: 'any' }, runs: true })
  }

  /** @returns what NestJS takes as an Observable. */
  intercept(context: ExecutionContextLike, next: CallHandlerLike): unknown {
    const handler = context.getHandler()
    const route = routeOf<DB, Request>(handler)
    if (!route) return next.handle()
    refuseStream(handler)
    if (context.getType() !== 'http') throw invalid('@Idempotent() is for the routes of HTTP')
    const endpoint = this.#endpoints.get(handler) ?? this.#made(route)
    this.#endpoints.set(handler, endpoint)
    return route.runs ? this.#serve(context, next, endpoint) : this.#lookUp(context, endpoint)
  }

  #serve(
    context: ExecutionContextLike,
    next: CallHandlerLike,
    endpoint: Endpoint<DB, Request>,
  ): Promise<unknown> {
    const { exchange, outlet, fail } = platformOf<Request>(context)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const calls = this.#calls
    let over: (() => void) | undefined
    const run = (call: HttpCall<DB>, taken: TakenResponse) => {
      const [[handled, stop], forget] = runningWith(call, () => lastOf(next.handle()))
      over = () => {
        stop()
        forget()
      }
      handled.then(resolve, (error: unknown) => {
        // NestJS makes an answer of it, on the response that is taken; of half an answer nobody can.
        if (taken.fail(error) !== 'given up') reject(error)
        else {
          outlet.silence()
          resolve(NOTHING)
        }
      })
      return undefined
    }
    serveWritten({ endpoint, calls, exchange, outlet, run })
      .then(
        (by) => {
          if (by === 'us') outlet.silence()
          resolve(by === 'nobody' ? next.handle() : NOTHING)
        },
        (error: unknown) => {
          // Its own pipeline is through with it.
          if (over) fail(error)
          else reject(error)
        },
      )
      .finally(() => over?.())
    return promise
  }

  async #lookUp(context: ExecutionContextLike, endpoint: Endpoint<DB, Request>): Promise<unknown> {
    const { exchange, outlet } = platformOf<Request>(context)
    outlet.send(await endpoint.lookUp(exchange))
    outlet.silence()
    return NOTHING
  }

  #made({ options }: Route<DB, Request>): Endpoint<DB, Request> {
    const { idempotency, ...shared } = this.#options
    const { instance, ...own } = options
    const special = instance?.(idempotency as Idempotency<DB>) ?? idempotency
    return new Endpoint<DB, Request>(special, { methods: METHODS, ...shared, ...own })
  }
}
