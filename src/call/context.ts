import { OncelyError } from '../errors.ts'
import { checkEvent, type EmittedEvent, type OutboxEvent } from '../outbox/event.ts'
import type { Resource } from '../result.ts'
import { problemOfText, type Scope } from '../scope.ts'
import { childKeyOf } from './child-key.ts'
import { isRejection, Rejection } from './rejection.ts'

/** What a business function is given beside its transaction. */
export interface CallContext {
  /** Whose call it is. */
  readonly scope: Scope
  /** The idempotency key. */
  readonly key: string
  /**
   * Notes an event, which is committed with the response in the order of these calls, or not at
   * all. Checked at once.
   *
   * @throws OncelyError `invalid_event`, or `not_json` with the path in the payload.
   */
  readonly emit: (event: EmittedEvent) => void
  /**
   * Refuses the call for good, for a business reason such as a credit limit. Return what it
   * returns: the function's writes and events are undone, the refusal is stored and replayed.
   *
   * @example
   * ```ts
   * if (total > limit) return context.reject({ code: 'credit_limit' })
   * ```
   */
  readonly reject: <const Refusal>(refusal: Refusal) => Rejection<Refusal>
  /**
   * Says what the record points to. It outlives the response: `expired` carries it. A rejection drops
   * it, as its writes are undone.
   *
   * @throws OncelyError `invalid_resource`.
   */
  readonly resource: (resource: Resource) => void
  /**
   * A key for a call to another service on behalf of this one, which a relay makes later: the same for
   * every retry of this intent, and another for every name, key and scope: SHA-256 of the JSON array of
   * `oncely.child-key.1`, tenant, actor, operation, key and name, in base64url, 43 characters. For
   * `["oncely.child-key.1","t1","u1","notes.create","K-1","charge"]` it is
   * `Rir3iJv0xOoGZOdjZYOtZ2QEyoLnlkREPyGzEW5Q4fM`.
   *
   * @throws OncelyError `invalid_key` for a name that is not a text of 1 to 200 characters.
   */
  readonly childKey: (name: string) => string
}

/**
 * What the first statement of the business function has failed with, where somebody has made something
 * else of its error, such as an answer.
 */
export function firstErrorIn(context: CallContext): unknown {
  return context instanceof Call ? context.firstError()?.error : undefined
}

/** What one run of a business function asks for, kept in memory until it settles. */
export class Call implements CallContext {
  readonly scope: Scope
  readonly key: string
  readonly #events: OutboxEvent[] = []
  readonly #rejections: Rejection<unknown>[] = []
  #resource: Resource | undefined
  #settled = false

  /** What the first statement failed with that failed. */
  readonly firstError: () => { readonly error: unknown } | undefined

  constructor(scope: Scope, key: string, firstError: Call['firstError']) {
    this.firstError = firstError
    this.scope = Object.freeze(scope)
    this.key = key
  }

  // Arrow functions, so that they can be taken off the context: `({ emit }) => …`.
  readonly emit = (event: EmittedEvent): void => {
    this.#assertRunning()
    this.#events.push(checkEvent(event))
  }

  readonly reject = <const Refusal>(refusal: Refusal): Rejection<Refusal> => {
    this.#assertRunning()
    const rejection = new Rejection(refusal)
    this.#rejections.push(rejection)
    return rejection
  }

  readonly resource = (resource: Resource): void => {
    this.#assertRunning()
    const { type, id } = Object(resource) as Record<keyof Resource, unknown>
    const problem = problemOfText(type) ?? problemOfText(id)
    if (problem) {
      throw new OncelyError('invalid_resource', `a resource's type and id: each ${problem}`)
    }
    this.#resource = { type: resource.type, id: resource.id }
  }

  readonly childKey = (name: string): string => childKeyOf(this.scope, this.key, name)

  get events(): readonly OutboxEvent[] {
    return this.#events
  }

  get madeResource(): Resource | undefined {
    return this.#resource
  }

  /** From here on the context refuses to be used: nothing would come of it. */
  settle(): void {
    this.#settled = true
  }

  /**
   * The rejection that the function returned, or undefined when it returned a value.
   *
   * @throws OncelyError `rejection_not_returned` when it made one and returned something else.
   */
  rejectionIn(returned: unknown): Rejection<unknown> | undefined {
    const [made, ...more] = this.#rejections
    if (made === undefined && !isRejection(returned)) return undefined
    if (made !== undefined && made === returned && more.length === 0) return made
    throw new OncelyError(
      'rejection_not_returned',
      'a function that calls context.reject must call it once and return what it returns',
    )
  }

  #assertRunning(): void {
    if (!this.#settled) return
    throw new OncelyError(
      'transaction_closed',
      'the context was used after its business function had settled',
    )
  }
}
