import { OncelyError } from '../errors.ts'
import { problemOfText } from '../scope.ts'

/** An event as it arrives. */
export interface ReceivedEvent {
  /** The event's identity, the same for every delivery: 1 to 255 octets. */
  readonly id: string
  /**
   * The business's own version of the aggregate, from 0 and without gaps, as a number, a bigint or decimal digits.
   * With it the aggregate's events are applied in their order; without it each is applied once, in whatever order
   * they come.
   */
  readonly sequence?: number | bigint | string | null | undefined
  /** Whose the aggregate is; 1 to 200 characters. Needed with a sequence. */
  readonly tenant?: string | undefined
  /** The kind of the aggregate; 1 to 200 characters. Needed with a sequence. */
  readonly aggregateType?: string | undefined
  /** Which one; 1 to 200 characters. Needed with a sequence. */
  readonly aggregateId?: string | undefined
}

/** Where an event is in the life of its aggregate. */
export interface Place {
  readonly tenant: string
  readonly aggregateType: string
  readonly aggregateId: string
  readonly sequence: bigint
}

const MAX_SEQUENCE = 2n ** 63n - 1n

/**
 * The identity of an event that has come, and its place if it has one.
 *
 * @throws OncelyError `invalid_event`.
 */
export function checkReceived(event: ReceivedEvent): { id: string; place: Place | undefined } {
  const given = Object(event) as ReceivedEvent
  const { id } = given
  if (!fits(id, 255)) throw wrong("the event's id must be a text of 1 to 255 octets")
  if (given.sequence === undefined || given.sequence === null) return { id, place: undefined }
  const { tenant = '', aggregateType = '', aggregateId = '' } = given
  for (const [name, text] of Object.entries({ tenant, aggregateType, aggregateId })) {
    const problem = problemOfText(text)
    if (problem) throw wrong(`the event's ${name} ${problem}: it has a sequence`)
  }
  return { id, place: { tenant, aggregateType, aggregateId, sequence: wholeOf(given.sequence) } }
}

function wholeOf(sequence: unknown): bigint {
  const isExact = typeof sequence === 'bigint' || Number.isSafeInteger(sequence)
  const isDigits = typeof sequence === 'string' && /^\d{1,19}$/.test(sequence)
  const whole = isExact || isDigits ? BigInt(sequence as bigint | number | string) : -1n
  if (whole >= 0n && whole <= MAX_SEQUENCE) return whole
  throw wrong("the event's sequence must be a whole number from 0 that fits a bigint")
}

export function fits(text: unknown, octets: number): text is string {
  if (typeof text !== 'string' || text === '' || text.includes('\0')) return false
  return text.isWellFormed() && Buffer.byteLength(text) <= octets
}

function wrong(message: string): OncelyError {
  return new OncelyError('invalid_event', message)
}
