import { invalid } from '../checks.ts'
import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import type { EndpointOptions } from './options.ts'
import { resolveEndpoint } from './resolve-options.ts'

/** Of every route of a module, unless its decorator says otherwise. */
export interface OncelyModuleOptions<DB, Request> extends Omit<
  EndpointOptions<Request>,
  'operation' | 'fingerprint'
> {
  /** What `createIdempotency` has made of the host's Kysely. */
  readonly idempotency: Idempotency<DB, Shape>
}

/** Of one route: what the module says counts where these say nothing. */
export interface IdempotentOptions<DB, Request>
  extends
    Omit<EndpointOptions<Request>, 'principal'>,
    Partial<Pick<EndpointOptions<Request>, 'principal'>> {
  /**
   * The methods that are served; any other passes untouched.
   *
   * @defaultValue what the module says; otherwise `['POST', 'PUT', 'PATCH', 'DELETE']`, whichever the route is of.
   */
  readonly methods?: readonly string[]
  /**
   * The module's instance with what this operation needs besides, such as `authorize`. Called once, with the first
   * request.
   *
   * @defaultValue the module's own.
   *
   * @example
   * ```ts
   * \@Idempotent({ operation: 'orders.create', instance: (all) => all.withOptions({ quota }) })
   * ```
   */
  readonly instance?: (idempotency: Idempotency<DB>) => Idempotency<DB, Shape>
}

/** What is known of a method of a controller. */
export interface Route<DB, Request> {
  readonly options: IdempotentOptions<DB, Request>
  /** Whether the method is run; otherwise only what is committed is answered. */
  readonly runs: boolean
}

const KEY = 'oncely:route'

/** As NestJS marks a method whose answer never ends. */
const SSE = '__sse__'

/** Whoever marks a method says that it is to take effect once, also by those that HTTP calls idempotent. */
export const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE']

/** What NestJS has loaded before it loads any controller. */
const metadata = Reflect as unknown as {
  defineMetadata?(key: string, value: unknown, target: object): void
  getMetadata?(key: string, target: object): unknown
}

/**
 * A method of a controller that takes effect once for a key, and answers whoever comes later by the first
 * answer. The transaction is that of the injected `IdempotentCall`.
 *
 * @throws OncelyError `invalid_options`.
 *
 * @example
 * ```ts
 * \@Post()
 * \@Idempotent({ operation: 'orders.create' })
 * create(\@Body() order: NewOrder) { … }
 * ```
 */
export function Idempotent<DB, Request>(options: IdempotentOptions<DB, Request>): MethodDecorator {
  return marking(options, true)
}

/**
 * A method of a controller, such as by GET, that answers what is committed under the key of the request for an
 * operation, and is never run.
 *
 * @throws OncelyError `invalid_options`.
 */
export function IdempotentLookup<DB, Request>(
  options: IdempotentOptions<DB, Request>,
): MethodDecorator {
  return marking(options, false)
}

function marking<DB, Request>(
  options: IdempotentOptions<DB, Request>,
  runs: boolean,
): MethodDecorator {
  const { instance, ...endpoint } = Object(options) as IdempotentOptions<DB, Request>
  if (instance !== undefined && typeof instance !== 'function') {
    throw invalid('instance must be a function')
  }
  // What is wrong is told when the controller is loaded, and not by its first request.
  resolveEndpoint({ principal: () => ({ tenant: '', actor: '' }), ...endpoint })
  const route: Route<DB, Request> = { options, runs }
  return (_target, _name, descriptor) => {
    if (!metadata.defineMetadata)
      throw invalid("reflect-metadata is to be loaded first: it is NestJS's")
    metadata.defineMetadata(KEY, route, descriptor.value as object)
    refuseStream(descriptor.value as object)
  }
}

/** Of whatever types its decorator was given. */
export function routeOf<DB, Request>(handler: object): Route<DB, Request> | undefined {
  return metadata.getMetadata?.(KEY, handler) as Route<DB, Request> | undefined
}

/** @throws OncelyError `invalid_options` for a method that sends events as long as somebody hears them. */
export function refuseStream(handler: object): void {
  if (metadata.getMetadata?.(SSE, handler) === undefined) return
  throw invalid('a method that is @Sse() has no answer that could be stored')
}
