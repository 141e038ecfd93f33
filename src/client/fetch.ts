/** What a `fetch` is called with, made anew for each attempt: a wrapper may spread it, and its headers. */
export interface FetchInit {
  /** Such as `POST`. */
  readonly method: string
  /** By their names in lower case. */
  readonly headers: Record<string, string>
  /** An ArrayBuffer, or null where there is no content. Any, as each implementation has its own types of contents. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any
  /** Aborts with the caller's signal, at the deadline, and when the attempt takes too long. */
  readonly signal: AbortSignal
}

/** What is needed of the headers of an answer: their names and values, and each by its name. */
export interface HeadersLike extends Iterable<[string, string]> {
  /** Its value, in whatever case the name is given; null where there is none. */
  get(name: string): string | null
}

/** What is needed of an answer: any `Response` has it. */
export interface ResponseLike {
  /** Such as 201. */
  readonly status: number
  /** The reason phrase. */
  readonly statusText?: string
  /** Of the answer. */
  readonly headers: HeadersLike
  /** Reads the content to its end. */
  arrayBuffer(): PromiseLike<ArrayBuffer>
  /** Where it came from. */
  readonly url?: string
  /** Whether it was redirected there. */
  readonly redirected?: boolean
  /** Such as `cors`; one that is `opaque`, `opaqueredirect` or `error` says nothing of what became of the request. */
  readonly type?: string
}

/**
 * Any function `fetch`: the platform's, undici's, node-fetch's, one of a test, or a wrapper around one. It is called
 * with an absolute URL and a `FetchInit`, which has what else the caller has said, too.
 */
export type Fetch = (url: string, init: FetchInit) => PromiseLike<ResponseLike>
