import { randomUUID } from 'node:crypto'

import { OncelyError } from '../errors.ts'
import { toJsonValue } from '../json-value.ts'
import { problemOfText } from '../scope.ts'

/** What happened, as a business function tells it. Names after Debezium's outbox event router. */
export interface EmittedEvent {
  /** What happened, such as `order.created`; 1 to 200 characters. */
  readonly type: string
  /** The kind of thing it happened to, such as `order`; 1 to 200 characters. */
  readonly aggregateType: string
  /** Which one; 1 to 200 characters. */
  readonly aggregateId: string
  /** JSON; what has a `toJSON`, such as a Date, is stored as what that returns. */
  readonly payload: unknown
  /** The business's own version of the aggregate, if it counts them: a whole number from 0. */
  readonly sequence?: number | bigint | undefined
  /** Anything to be sent beside the payload. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** An event that was checked, in the form in which it is stored. */
export interface OutboxEvent {
  /** The event's identity for every receiver, a UUID. */
  readonly id: string
  readonly type: string
  readonly aggregateType: string
  readonly aggregateId: string
  readonly payload: string
  readonly sequence: string | null
  readonly headers: string
}

const MAX_SEQUENCE = 2n ** 63n - 1n

/**
 * Checks an event and gives it its identity.
 *
 * @throws OncelyError `invalid_event`, or `not_json` with the path in the payload.
 */
export function checkEvent(event: EmittedEvent): OutboxEvent {
  const given: unknown = event
  if (typeof given !== 'object' || given === null) throw invalid('an event must be an object')
  for (const name of ['type', 'aggregateType', 'aggregateId'] as const) {
    const problem = problemOfText(event[name])
    if (problem) throw invalid(`the event's ${name} ${problem}`)
  }
  return {
    id: randomUUID(),
    type: event.type,
    aggregateType: event.aggregateType,
    aggregateId: event.aggregateId,
    payload: JSON.stringify(toJsonValue(event.payload, 'content')),
    sequence: checkSequence(event.sequence),
    headers: checkHeaders(event.headers),
  }
}

function checkSequence(sequence: unknown): string | null {
  if (sequence === undefined) return null
  const whole = typeof sequence === 'number' && Number.isSafeInteger(sequence)
  const exact = whole ? BigInt(sequence) : sequence
  if (typeof exact !== 'bigint' || exact < 0n || exact > MAX_SEQUENCE) {
    throw invalid("the event's sequence must be a whole number from 0 that fits a bigint")
  }
  return exact.toString()
}

function checkHeaders(headers: unknown): string {
  if (headers === undefined) return '{}'
  const isObject = typeof headers === 'object' && headers !== null && !Array.isArray(headers)
  const entries = isObject ? Object.entries(headers) : undefined
  if (!entries?.every(([, text]) => typeof text === 'string') || headers instanceof Map) {
    throw invalid("the event's headers must be an object of strings")
  }
  return JSON.stringify(Object.fromEntries(entries))
}

function invalid(message: string): OncelyError {
  return new OncelyError('invalid_event', message)
}
