import { OncelyError } from '../errors.ts'
import { type HttpAnswer, tooLarge } from './answer.ts'
import {
  addHeaders,
  bytesIn,
  linesOf,
  pairsOf,
  type ResponseLike,
  type StatusLine,
  statusOf,
} from './response-like.ts'

/** RFC 9112, section 4: what Node would refuse to send behind the commit. */
const isReason = (text: string | undefined) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text ?? '')

const TWICE = 'a handler has answered twice: the first answer counts'

/** What a handler writes to a response, kept until it has ended it. Its status and headers are on the response. */
export class ResponseInMaking {
  /** The whole answer, once the handler has ended it. */
  readonly answered: Promise<HttpAnswer>
  readonly #response: ResponseLike
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #length = 0
  #head: StatusLine | undefined
  #isEnded = false
  #hasWarned = false
  readonly #called: (() => void)[] = []
  #resolve: (answer: HttpAnswer) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  /** @param limit - how many octets an answer may have. */
  constructor(response: ResponseLike, limit: number) {
    this.#response = response
    this.#limit = limit
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Whoever waits for it may have gone.
    this.answered.catch(() => undefined)
  }

  /** Status and reason, once its head would have been sent; what they are set to behind it is nothing any more. */
  get head(): StatusLine | undefined {
    return this.#head
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Begun, and not ended. */
  get isHalf(): boolean {
    return this.#head !== undefined && !this.#isEnded
  }

  get body(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** To be called when it is sent. */
  sent(): void {
    for (const one of this.#called) one()
  }

  /** Whether the head can still be changed. A second answer is told of, and comes to nothing. */
  mayChange(): boolean {
    if (!this.#head) return true
    if (this.#isEnded) {
      if (!this.#hasWarned) process.emitWarning(TWICE, 'OncelyWarning')
      this.#hasWarned = true
      return false
    }
    // As Node has it, so that a framework knows it.
    throw Object.assign(new Error('Cannot set headers after they are sent to the client'), {
      code: 'ERR_HTTP_HEADERS_SENT',
    })
  }

  readonly writeHead = (status: number, ...given: unknown[]): ResponseLike => {
    if (!this.mayChange()) return this.#response
    const [message] = given
    this.#response.statusCode = status
    if (typeof message === 'string') this.#response.statusMessage = message
    const headers = typeof message === 'string' ? given[1] : (given[1] ?? message)
    addHeaders(this.#response, pairsOf(headers))
    this.#fix()
    return this.#response
  }

  /** As Node does it: by what may have been put in the place of `writeHead`, such as to add a header. */
  readonly sendHead = (): void => {
    if (!this.#head) this.#response.writeHead(this.#response.statusCode)
    if (!this.#head) this.#fix()
  }

  #fix(): void {
    const status = statusOf(this.#response)
    // As Node makes a number of it.
    this.#head = { ...status, statusCode: Math.trunc(status.statusCode) }
  }

  readonly write = (chunk: unknown, ...given: unknown[]): boolean => {
    if (this.#isEnded) return false
    const bytes = bytesIn(chunk, given[0])
    this.sendHead()
    this.#length += bytes.length
    if (this.#length > this.#limit) {
      // Whoever sends a stream waits until it is drained, and that is never.
      this.#reject(tooLarge(this.#limit))
      return false
    }
    this.#chunks.push(bytes)
    const called = given.find((one) => typeof one === 'function') as (() => void) | undefined
    if (called) process.nextTick(called)
    return true
  }

  readonly end = (...given: unknown[]): ResponseLike => {
    if (this.#isEnded) return this.#response
    const [chunk, encoding] = typeof given[0] === 'function' ? [] : given
    if (chunk !== undefined && chunk !== null) {
      this.write(chunk, typeof encoding === 'string' ? encoding : undefined)
    }
    this.sendHead()
    this.#isEnded = true
    const called = given.find((one) => typeof one === 'function') as (() => void) | undefined
    if (called) this.#called.push(called)
    const { statusCode = 0, statusMessage } = this.#head ?? {}
    if (!isReason(statusMessage)) {
      this.#reject(new OncelyError('invalid_response', 'the status message cannot be sent'))
    } else {
      const headers = linesOf(this.#response.getHeaders())
      this.#resolve({ status: statusCode, headers, body: this.body })
    }
    return this.#response
  }

  /** Nobody will end it any more. */
  abandon(error: unknown = new Error('the response was destroyed before it was ended')): void {
    if (!this.#isEnded) this.#reject(error)
  }
}
