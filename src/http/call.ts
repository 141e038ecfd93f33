import type { Transaction } from 'kysely'

import type { CallContext } from '../call/context.ts'

/** What a handler is given beside its request. */
export interface HttpContext extends Omit<CallContext, 'reject'> {
  /**
   * Declares that the answer is a refusal for good, for a business reason such as a credit limit: the
   * handler's writes and events are undone, the answer is stored and replayed. Its status has to be one
   * from 400 to 499.
   *
   * @param answer - whatever the handler goes on to answer; or the error that it goes on to throw, where the
   * framework makes an answer of an error.
   * @returns what it is given.
   *
   * @example
   * ```ts
   * return context.reject(Response.json({ code: 'credit_limit' }, { status: 402 }))
   * throw context.reject(new HttpException('credit limit', 402))
   * ```
   */
  readonly reject: <Answer = undefined>(answer?: Answer) => Answer
}

/** One call of a handler, in its transaction. */
export interface HttpCall<DB> {
  /** What the handler writes with. It is committed before the answer is sent. */
  readonly tx: Transaction<DB>
  /** Whose call it is, events, the resource, and `reject`. */
  readonly context: HttpContext
  /**
   * The content of the request where it was read for its fingerprint, and no parser had read it before;
   * undefined otherwise.
   */
  readonly body: Uint8Array | undefined
}

/** A call, and what its handler has declared to be final. */
export interface CallUnderWay<DB> {
  readonly call: HttpCall<DB>
  /** The answer, or an error that is thrown for one; undefined where it has declared nothing. */
  readonly declared: () => { readonly answer: unknown } | undefined
}

export function callOf<DB>(
  tx: Transaction<DB>,
  context: CallContext,
  body: Uint8Array | undefined,
): CallUnderWay<DB> {
  let declared: { readonly answer: unknown } | undefined
  const reject: HttpContext['reject'] = (answer) => {
    declared = { answer }
    return answer as never
  }
  const { scope, key, emit, resource, childKey } = context
  const call = { tx, body, context: { scope, key, emit, resource, childKey, reject } }
  return { call, declared: () => declared }
}
