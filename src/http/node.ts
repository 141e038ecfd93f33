import { setImmediate } from 'node:timers/promises'

import { invalid } from '../checks.ts'
import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import type { Handled } from './exchange.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import { NodeExchange, type RequestLike } from './node-request.ts'
import type { EndpointOptions } from './options.ts'
import { Outlet } from './outlet.ts'
import { type ResponseLike, send } from './response-like.ts'
import type { TakenResponse } from './taken-response.ts'
import { UnderWay } from './under-way.ts'
import { serveWritten } from './written.ts'

/** Answers a request, as `createServer` of `node:http` takes it. */
export type NodeListener<Request, Response> = (request: Request, response: Response) => unknown

/** Options of a route on `node:http`. */
export interface NodeOptions<Request> extends EndpointOptions<Request> {
  /**
   * Hears what the listener and the functions of the route throw, and of a database that is not ready.
   * The request is answered by 500, whose content says nothing of it.
   *
   * @defaultValue `console.error`
   */
  readonly onError?: (error: unknown) => unknown
}

/** Makes listeners of `node:http` idempotent. */
export interface IdempotentNode<DB, Request extends object> {
  /** @returns the same listener, which runs once for a key; whoever comes later gets the first answer. */
  <Req extends Request & RequestLike, Res extends ResponseLike>(
    listener: NodeListener<Req, Res>,
  ): (request: Req, response: Res) => Promise<void>
  /**
   * The transaction and the context of a request, for its listener.
   *
   * @throws OncelyError `call_missing`.
   */
  of(request: Request): HttpCall<DB>
  /** The same, or undefined for a request that passes untouched, such as one without a key. */
  find(request: Request): HttpCall<DB> | undefined
  /** Answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: (request: Request & RequestLike, response: ResponseLike) => Promise<void>
}

/**
 * Idempotent listeners of `node:http`.
 *
 * @throws OncelyError `invalid_options`.
 */
export function idempotent<DB, Of extends Shape, Request extends RequestLike>(
  idempotency: Idempotency<DB, Of>,
  given: NodeOptions<Request>,
): IdempotentNode<DB, Request> {
  const { onError: hears, ...options } = Object(given) as NodeOptions<Request>
  const onError: (error: unknown) => unknown = hears ?? console.error
  if (typeof onError !== 'function') throw invalid('onError must be a function')
  const endpoint = new Endpoint<DB, Request>(idempotency, options)
  const calls = new UnderWay<DB, Request>()
  const told = (error: unknown) => {
    // What it throws in turn is not to take the answer, or the process, along.
    void new Promise((resolve) => {
      resolve(onError(error))
    }).catch(() => undefined)
  }
  const failed = (error: unknown, response: ResponseLike) => {
    told(error)
    // Half of an answer must not look like a whole one.
    if (response.headersSent) response.destroy()
    else send(response, { status: 500, headers: [], body: new Uint8Array() })
  }
  const once = <Req extends Request & RequestLike, Res extends ResponseLike>(
    listener: NodeListener<Req, Res>,
  ) => {
    const listened = async (request: Req, response: Res) => {
      await listener(request, response)
    }
    return async (request: Req, response: Res) => {
      try {
        const by = await serveWritten<DB, Request>({
          endpoint,
          calls,
          exchange: new NodeExchange<Request>(request),
          outlet: new Outlet(response),
          run: (_call, taken) => answeredBy(listened(request, response), taken, told),
        })
        if (by === 'nobody') await listened(request, response)
      } catch (error) {
        failed(error, response)
      }
    }
  }
  return Object.assign(once, {
    of: (request: Request) => calls.of(request),
    find: (request: Request) => calls.find(request),
    async lookup(request: Request & RequestLike, response: ResponseLike) {
      try {
        send(response, await endpoint.lookUp(new NodeExchange<Request>(request)))
      } catch (error) {
        failed(error, response)
      }
    },
  })
}

/**
 * The answer of a listener, which has failed where it throws, also right behind its answer. One that goes
 * on, such as to wait until the answer is sent, is not waited for: that is behind the commit.
 */
async function answeredBy(
  listening: Promise<void>,
  { answered }: TakenResponse,
  told: (error: unknown) => void,
): Promise<Handled> {
  let isOver = false
  const ended = listening.then(
    () => answered,
    (error: unknown) => {
      if (!isOver) throw error
      told(error)
      return answered
    },
  )
  const settled = answered.then(async (answer) => {
    await setImmediate()
    return answer
  })
  try {
    return await Promise.race([ended, settled])
  } finally {
    isOver = true
  }
}
