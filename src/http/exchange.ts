import type { Announced } from './announce.ts'
import type { HttpAnswer } from './answer.ts'
import type { HttpCall } from './call.ts'
import type { Content } from './content.ts'

/** A request, as an adapter sees it. */
export interface Exchange<Request> {
  /** The framework's own, for the functions that a route gives. */
  readonly request: Request
  readonly method: string
  /** Path and query, as they were sent. */
  readonly target: string
  /** Each line of the header with the key. */
  readonly keys: readonly string[]
  readonly contentType: string | undefined
  /**
   * Reads the content, or what a parser has made of it.
   *
   * @throws Refusal `content_too_large` before more than that many octets are read.
   */
  readonly content: (limit: number) => Promise<Content>
}

/** What is to be done for a request. */
export type Served =
  /** It is not ours: the handler has not run, and is to run as if we were not there. */
  | { readonly by: 'nobody' }
  | ServedByUs
  /** The handler has run. What it answered is to be sent as it is, with these headers besides. */
  | { readonly by: 'handler'; readonly answer: HttpAnswer; readonly announced: Announced }

/** The handler has not run, or what it has answered does not count. */
export interface ServedByUs {
  readonly by: 'us'
  readonly answer: HttpAnswer
}

/** The whole answer of a handler. */
export interface Handled extends HttpAnswer {
  /** What the handler has thrown, where it is what somebody has made of that. */
  readonly thrown?: { readonly error: unknown } | undefined
}

/** Runs the handler and takes its answer. */
export type Handle<DB> = (call: HttpCall<DB>) => Promise<Handled>
