import type { HttpAnswer } from './answer.ts'
import type { Served } from './exchange.ts'
import { type ResponseLike, send } from './response-like.ts'
import { TakenResponse } from './taken-response.ts'

/** A response of Node, which is taken from its handler until it is known what is to be sent. */
export class Outlet {
  readonly #response: ResponseLike
  #taken: TakenResponse | undefined

  constructor(response: ResponseLike) {
    this.#response = response
  }

  /** @param limit - how many octets an answer may have. */
  take(limit: number): TakenResponse {
    this.#taken = new TakenResponse(this.#response, limit)
    return this.#taken
  }

  /** Sends what was served. */
  answer(served: Served): void {
    if (served.by === 'handler') {
      this.#taken?.give(served.announced)
    } else if (served.by === 'us') {
      this.clear()
      this.send(served.answer)
      this.#taken?.bury()
    }
  }

  send(answer: HttpAnswer): void {
    send(this.#response, answer)
  }

  /** Makes the response what it was before the handler ran: somebody else answers. */
  clear(): void {
    this.#taken?.clear()
  }
}
