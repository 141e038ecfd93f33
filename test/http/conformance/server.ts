import type { Idempotency } from 'oncely'

import type { EndpointOptions, HttpCall } from '../../../src/http.ts'
import type { NotesDatabase } from '../../support/notes-host.ts'

/** What a handler answers, whatever the framework. */
export interface Answer {
  readonly status?: number
  /** A name more than once is a header of several lines. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array<ArrayBuffer>
  /** In place of it, what comes piece by piece. */
  readonly stream?: readonly string[]
}

/** One call of a handler, whatever the framework. */
export interface Handling {
  readonly call: HttpCall<NotesDatabase>
  /** The content, however the framework gives it. */
  readonly content: () => Promise<string>
  /** Ends the response where that can be done twice, or before the handler ends. */
  readonly end?: (answer: Answer) => void
}

/** A handler. An answer is sent unless it has been by `end`; undefined answers nothing. */
export type Handler = (handling: Handling) => Promise<Answer | undefined>

/** The options of a route that every framework has in common. */
export type RouteOptions = Omit<EndpointOptions<never>, 'principal' | 'operation' | 'fingerprint'>

/** How a server is to be. */
export interface ServerOptions {
  readonly idempotency: Idempotency<NotesDatabase>
  readonly handler: Handler
  /** Whether the framework's parser of JSON is in front. */
  readonly parser?: boolean
  readonly route?: RouteOptions
  /** What an error that is thrown is answered by. */
  readonly onError?: (error: unknown) => Answer
}

/** A server on a socket of its own, with the route `/things/:id` for every method, and `/lookup`. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  close(): Promise<void>
}

/** Something that servers are made of. */
export interface Adapter {
  readonly name: string
  start(options: ServerOptions): Promise<Server>
  /** What it has no word for, and why. */
  readonly without: Readonly<Partial<Record<Feature, string>>>
}

/** What not every framework has. */
export type Feature =
  'body parser' | 'content unread' | 'error handler' | 'answers twice' | 'throws behind its answer'

/** Whose the requests are: a header stands for authentication. */
export function principalOf(actor: string | null | undefined) {
  return { tenant: 't1', actor: actor ?? 'u1' }
}
