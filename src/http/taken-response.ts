import type { Announced } from './announce.ts'
import type { Handled } from './exchange.ts'
import { Mask } from './mask.ts'
import { ResponseInMaking } from './response-in-making.ts'
import {
  addBeside,
  type ResponseLike,
  setStatus,
  type StatusLine,
  statusOf,
} from './response-like.ts'
import { changesHead } from './silence.ts'

/** What a framework is like. */
export interface TakenOptions {
  /** Whether a handler that destroys the response cuts the connection; otherwise somebody else answers. */
  readonly cuts?: boolean
  /** What it has made an answer of, where that can only be asked when the answer has ended. */
  readonly failure?: () => Error | undefined
}

/**
 * A response whose handler believes to answer, while nothing is sent: its answer is not true before it
 * is committed. What the handler or the framework has set, such as its status and headers, stays on it.
 */
export class TakenResponse {
  readonly #response: ResponseLike
  readonly #made: ResponseInMaking
  readonly #mask: Mask<ResponseLike>
  readonly #before: StatusLine
  readonly #headersBefore: ReturnType<ResponseLike['getHeaders']>
  readonly #cuts: boolean
  readonly #failure: TakenOptions['failure']
  #hasHungUp = false
  #thrown: Handled['thrown']

  /** @param limit - how many octets an answer may have. */
  constructor(response: ResponseLike, limit: number, { cuts = true, failure }: TakenOptions = {}) {
    this.#response = response
    this.#cuts = cuts
    this.#failure = failure
    this.#made = new ResponseInMaking(response, limit)
    this.#mask = new Mask(response)
    this.#before = statusOf(response)
    this.#headersBefore = { ...response.getHeaders() }
    this.#take()
    this.#hideHangUp()
  }

  /** The whole answer, once the handler has ended it. */
  get answered(): Promise<Handled> {
    return this.#made.answered.then((answer) => {
      const error = this.#failure?.()
      return { ...answer, thrown: this.#thrown ?? (error && { error }) }
    })
  }

  get isEnded(): boolean {
    return this.#made.isEnded
  }

  /**
   * A handler has thrown.
   *
   * @returns what it means: nothing behind an answer; a failure where it has not begun one; and amid one, that
   * nobody will end it.
   */
  fail(error: unknown): 'too late' | 'failed' | 'given up' {
    if (this.#made.isEnded) return 'too late'
    if (!this.#made.isHalf) {
      this.#thrown = { error }
      return 'failed'
    }
    this.#made.abandon(error)
    return 'given up'
  }

  /** Sends what the handler has answered, as it is. */
  give(announced: Announced): void {
    this.#letGo()
    if (this.#response.headersSent) return
    const { head, body } = this.#made
    // Whatever it has been set to behind the answer.
    if (head) setStatus(this.#response, head)
    // What a handler says of its length is not what is there of it.
    const { 'content-length': length } = this.#response.getHeaders()
    if (length !== undefined) this.#response.setHeader('content-length', body.length)
    addBeside(this.#response, announced)
    this.#response.end(body.length > 0 ? body : undefined, () => {
      this.#made.sent()
    })
  }

  /** Makes the response what it was before the handler ran: somebody else answers. */
  clear(): void {
    this.#letGo()
    if (this.#response.headersSent) return
    setStatus(this.#response, this.#before)
    const before = this.#headersBefore
    const now = this.#response.getHeaders()
    for (const name of Object.keys(now)) if (!(name in before)) this.#response.removeHeader(name)
    for (const [name, value] of Object.entries(before)) {
      if (value !== undefined && now[name] !== value) this.#response.setHeader(name, value)
    }
  }

  #take(): void {
    const [response, made, mask] = [this.#response, this.#made, this.#mask]
    for (const name of changesHead) {
      const method = Reflect.get(response, name) as (...given: unknown[]) => unknown
      mask.method(name, (...given: unknown[]) =>
        made.mayChange() ? method.apply(response, given) : response,
      )
    }
    mask.method('writeHead', made.writeHead)
    mask.method('flushHeaders', made.sendHead)
    mask.method('write', made.write)
    mask.method('end', made.end)
    // A framework cuts the connection behind an error that it cannot answer any more.
    mask.method('destroy', (...given: unknown[]) => {
      made.abandon(given[0] ?? undefined)
      if (!this.#cuts) return response
      this.#letGo()
      return response.destroy(...given)
    })
    // Behind an answer nothing is to be done for an error: a framework would cut the connection.
    mask.seen('headersSent', () => made.isHalf)
    mask.seen('writableEnded', () => made.isEnded)
  }

  /** A client that hangs up changes nothing: what the handler sends would otherwise come to a stop. */
  #hideHangUp(): void {
    const response = this.#response
    const { socket } = response
    for (const name of ['destroyed', 'closed', '_closed']) this.#mask.seen(name, () => false)
    this.#mask.seen('socket', () => null)
    const emit = Reflect.get(response, 'emit') as (...given: unknown[]) => boolean
    this.#mask.method('emit', (event: string, ...given: unknown[]) => {
      if (event !== 'close') return emit.call(response, event, ...given)
      this.#hasHungUp = true
      // A framework cuts the connection behind an error amid an answer.
      const isOurs = socket?.destroyed === true && !socket.readableEnded && !socket.errored
      if (isOurs && this.#made.isHalf) this.#made.abandon()
      return true
    })
  }

  #letGo(): void {
    this.#mask.lift()
    if (!this.#hasHungUp) return
    this.#hasHungUp = false
    process.nextTick(() => this.#response.emit('close'))
  }
}
