import { OncelyError } from '../errors.ts'
import { type HttpAnswer, tooLarge } from './answer.ts'
import type { Announced } from './announce.ts'
import { addHeaders, bytesIn, linesOf, pairsOf, type ResponseLike } from './response-like.ts'

/** RFC 9112, section 4: what Node would refuse to send behind the commit. */
const isReason = (text: string | undefined) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text ?? '')

/** What changes the headers. */
const heads = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'] as const

/**
 * A response whose handler believes to answer, while nothing is sent: its answer is not true before it
 * is committed. What the handler or the framework has set, such as its status and headers, stays on it.
 */
export class TakenResponse {
  /** The whole answer, once the handler has ended it. */
  readonly answered: Promise<HttpAnswer>
  readonly #response: ResponseLike
  readonly #limit: number
  readonly #before: Pick<ResponseLike, 'statusCode' | 'statusMessage'>
  readonly #headersBefore: ReturnType<ResponseLike['getHeaders']>
  /** What was on the object itself, such as by a middleware in front. */
  readonly #own = new Map<string, PropertyDescriptor | undefined>()
  readonly #chunks: Buffer[] = []
  #answered: Pick<ResponseLike, 'statusCode' | 'statusMessage'> | undefined
  #length = 0
  #headSent = false
  #ended = false
  readonly #end: (() => void)[] = []
  #resolve: (answer: HttpAnswer) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  /** @param limit - how many octets an answer may have. */
  constructor(response: ResponseLike, limit: number) {
    this.#response = response
    this.#limit = limit
    const { statusCode, statusMessage } = response
    this.#before = { statusCode, statusMessage }
    this.#headersBefore = { ...response.getHeaders() }
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Whoever waits for it may have gone.
    this.answered.catch(() => undefined)
    this.#take()
    response.on('close', this.#closed)
  }

  /** Sends what the handler has answered, as it is. */
  give(announced: Announced): void {
    this.#letGo()
    if (this.#response.headersSent) return
    // Whatever it has been set to behind the answer.
    Object.assign(this.#response, this.#answered)
    addHeaders(this.#response, announced)
    const body = Buffer.concat(this.#chunks)
    const called = () => {
      for (const one of this.#end) one()
    }
    this.#response.end(body.length > 0 ? body : undefined, called)
  }

  /** Makes the response what it was before the handler ran: somebody else answers. */
  clear(): void {
    this.#letGo()
    if (this.#response.headersSent) return
    Object.assign(this.#response, this.#before)
    for (const name of Object.keys(this.#response.getHeaders())) this.#response.removeHeader(name)
    for (const [name, value] of Object.entries(this.#headersBefore)) {
      if (value !== undefined) this.#response.setHeader(name, value)
    }
  }

  /**
   * Lets the handler go on to no effect, as it has been answered for. It would otherwise be told that it
   * cannot answer any more, by an error for which a framework cuts the connection.
   */
  bury(): void {
    if (this.#ended) return
    const response = this.#response
    const nothing = { configurable: true, writable: true, value: () => response }
    for (const name of [...heads, 'writeHead', 'flushHeaders', 'write', 'end']) {
      Object.defineProperty(response, name, nothing)
    }
    Object.defineProperty(response, 'headersSent', { configurable: true, value: false })
  }

  #take(): void {
    const response = this.#response
    const guarded = Object.fromEntries(
      heads.map((name) => {
        const method = Reflect.get(response, name) as (...given: unknown[]) => unknown
        const guardedMethod = (...given: unknown[]): unknown => {
          return this.#mayChange() ? method.apply(response, given) : response
        }
        return [name, { value: guardedMethod }]
      }),
    )
    const properties: Record<string, PropertyDescriptor> = {
      ...guarded,
      writeHead: { value: this.#writeHead.bind(this) },
      flushHeaders: { value: () => (this.#headSent = true) },
      write: { value: this.#write.bind(this) },
      end: { value: this.#finish.bind(this) },
      destroy: { value: this.#destroy.bind(this) },
      // Behind an answer nothing is to be done for an error: a framework would cut the connection.
      headersSent: { get: () => this.#headSent && !this.#ended },
      writableEnded: { get: () => this.#ended },
    }
    for (const [name, property] of Object.entries(properties)) {
      this.#own.set(name, Object.getOwnPropertyDescriptor(response, name))
      // Somebody may put something else in its place.
      const isMethod = 'value' in property
      Object.defineProperty(response, name, {
        configurable: true,
        ...(isMethod && { writable: true }),
        ...property,
      })
    }
  }

  /** A framework cuts the connection behind an error that it cannot answer any more. */
  #destroy(...given: unknown[]): unknown {
    this.#lost()
    this.#letGo()
    return this.#response.destroy(...given)
  }

  /** Where a head was sent, only a failure leaves the rest of the answer out; a client may hang up before. */
  readonly #lost = (): void => {
    if (!this.#ended) this.#reject(new Error('the response was destroyed before it was ended'))
  }

  readonly #closed = (): void => {
    if (this.#headSent) this.#lost()
  }

  #letGo(): void {
    this.#response.removeListener('close', this.#closed)
    for (const [name, property] of this.#own) {
      if (property) Object.defineProperty(this.#response, name, property)
      else Reflect.deleteProperty(this.#response, name)
    }
    this.#own.clear()
  }

  /** Whether the head can still be changed. A second answer is told of, and comes to nothing. */
  #mayChange(): boolean {
    if (!this.#headSent) return true
    if (this.#ended) {
      process.emitWarning('a handler has answered twice: the first answer counts', 'OncelyWarning')
      return false
    }
    // As Node has it, so that a framework knows it.
    throw Object.assign(new Error('Cannot set headers after they are sent to the client'), {
      code: 'ERR_HTTP_HEADERS_SENT',
    })
  }

  #writeHead(status: number, ...given: unknown[]): ResponseLike {
    if (!this.#mayChange()) return this.#response
    const [message] = given
    this.#response.statusCode = status
    if (typeof message === 'string') this.#response.statusMessage = message
    const headers = typeof message === 'string' ? given[1] : (given[1] ?? message)
    addHeaders(this.#response, pairsOf(headers))
    this.#headSent = true
    return this.#response
  }

  #write(chunk: unknown, ...given: unknown[]): boolean {
    const called = given.find((one) => typeof one === 'function') as (() => void) | undefined
    if (called) process.nextTick(called)
    if (this.#ended) return false
    this.#headSent = true
    const bytes = bytesIn(chunk, given[0])
    this.#length += bytes.length
    if (this.#length <= this.#limit) this.#chunks.push(bytes)
    return true
  }

  #finish(...given: unknown[]): ResponseLike {
    if (this.#ended) return this.#response
    const [chunk, encoding] = typeof given[0] === 'function' ? [] : given
    const called = given.find((one) => typeof one === 'function') as (() => void) | undefined
    if (called) this.#end.push(called)
    if (chunk !== undefined && chunk !== null) {
      this.#write(chunk, typeof encoding === 'string' ? encoding : undefined)
    }
    this.#headSent = true
    this.#ended = true
    const { statusCode, statusMessage } = this.#response
    this.#answered = { statusCode, statusMessage }
    if (this.#length > this.#limit) {
      this.#reject(tooLarge(this.#limit))
    } else if (!isReason(statusMessage)) {
      this.#reject(new OncelyError('invalid_response', 'the status message cannot be sent'))
    } else {
      this.#resolve({
        status: statusCode,
        headers: linesOf(this.#response.getHeaders()),
        body: Buffer.concat(this.#chunks),
      })
    }
    return this.#response
  }
}
