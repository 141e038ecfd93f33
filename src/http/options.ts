import type { Fingerprints } from '../fingerprint/fingerprint.ts'
import type { Scope } from '../scope.ts'

/** Who calls, from authentication and never from the payload. */
export type Principal = Pick<Scope, 'tenant' | 'actor'>

/**
 * How one route is made idempotent.
 *
 * @typeParam Request - the framework's own.
 */
export interface EndpointOptions<Request> {
  /** A stable name that its owner chose, such as `orders.create`. Never a path. */
  readonly operation: string
  /**
   * Who calls. Authentication comes before it; what it throws is the framework's to answer. There is no
   * default: callers that are not told apart would be given each other's answers.
   */
  readonly principal: (request: Request) => Principal | Promise<Principal>
  /**
   * The parameters that decide the result, as the route has validated and defaulted them, as a
   * fingerprint. What it throws is the framework's to answer; the key is then free.
   *
   * @defaultValue of method, operation, path, query, media type and content: JSON by its canonical form,
   * anything else by its octets.
   */
  readonly fingerprint?: (request: Request) => Fingerprints | Promise<Fingerprints>
  /**
   * The methods that are served; any other passes untouched.
   *
   * @defaultValue `['POST', 'PATCH']`: the ones that HTTP does not call idempotent.
   */
  readonly methods?: readonly string[]
  /**
   * Whether a request without a key is refused, by 400; otherwise it passes untouched.
   *
   * @defaultValue true
   */
  readonly required?: boolean
  /**
   * Whether the key has to be a quoted string, as the draft says. Otherwise a bare token is the same key
   * as its quoted form.
   *
   * @defaultValue false
   */
  readonly strict?: boolean
  /**
   * How large the content of a request may be, in octets, from 0 to 256 MiB, where it is read for its
   * fingerprint; a larger one is refused by 413.
   *
   * @defaultValue 1,048,576 (1 MiB)
   */
  readonly maxRequestBytes?: number
  /**
   * Statuses from 400 to 499 that are stored and replayed, whether the handler answers or throws with
   * them; its writes are undone. `'business'` is 402, 409, 410 and 422. Any other 4xx is rolled back and
   * not stored, unless the handler says so by `context.reject`.
   *
   * @defaultValue none.
   */
  readonly finalStatuses?: 'business' | readonly number[]
  /**
   * Names of headers that are stored and replayed beside those that describe a response.
   *
   * @defaultValue none.
   */
  readonly storedHeaders?: readonly string[]
  /**
   * How long a call may take, in milliseconds, from 1 to 2,147,483,647; then nothing is committed, and
   * it is answered by 503. A handler that never answers would hold the key for ever.
   *
   * @defaultValue 30,000
   */
  readonly deadlineMs?: number
  /**
   * Whether a page of another origin may read the headers that say how it ended, by
   * `Access-Control-Expose-Headers`. The request's header is for your own CORS rules to allow.
   *
   * @defaultValue false
   */
  readonly exposeHeaders?: boolean
  /**
   * A URL that describes how your keys work; each refusal links to it.
   *
   * @defaultValue the draft of the header.
   */
  readonly describedBy?: string
}
