import type { HttpAnswer } from './answer.ts'
import type { Served } from './exchange.ts'
import { hideHangUpOf } from './lasting-socket.ts'
import { type ResponseLike, send } from './response-like.ts'
import { bury, silence } from './silence.ts'
import { type TakenOptions, TakenResponse } from './taken-response.ts'

/** A response of Node, which is taken from its handler until it is known what is to be sent. */
export class Outlet {
  readonly #response: ResponseLike
  readonly #message: object | undefined
  #taken: TakenResponse | undefined
  #showHangUp: (() => void) | undefined

  /** @param message - Node's request, where a framework looks at it for whether its client is there. */
  constructor(response: ResponseLike, message?: object) {
    this.#response = response
    this.#message = message
  }

  /** @param limit - how many octets an answer may have. */
  take(limit: number, options?: TakenOptions): TakenResponse {
    this.#taken = new TakenResponse(this.#response, limit, options)
    if (this.#message) this.#showHangUp = hideHangUpOf(this.#message)
    return this.#taken
  }

  /** Sends what was served. */
  answer(served: Served): void {
    if (served.by === 'handler') {
      this.#showHangUp?.()
      this.#taken?.give(served.announced)
    } else if (served.by === 'us') {
      this.clear()
      this.send(served.answer)
      // The handler may still run.
      if (this.#taken?.isEnded === false) bury(this.#response)
    }
  }

  /** Sends an answer of ours, unless somebody else has answered meanwhile. */
  send(answer: HttpAnswer): void {
    send(this.#response, answer)
  }

  /** Lets a framework send what it will, to no effect: everything is sent. */
  silence(): void {
    silence(this.#response)
  }

  /** Makes the response what it was before the handler ran: somebody else answers. */
  clear(): void {
    this.#showHangUp?.()
    this.#taken?.clear()
  }
}
