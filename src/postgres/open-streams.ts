import { OncelyError } from '../errors.ts'

/**
 * The streams that a business function reads. Kysely keeps the connection for as long as a stream is
 * open, so one left behind would hold up the response for ever.
 */
export class OpenStreams {
  readonly #ends = new Set<() => void>()
  #ended = false

  /**
   * Passes a stream on.
   *
   * @param abandon - lets the connection go although the stream has not ended.
   */
  async *pass<T>(rows: AsyncIterableIterator<T>, abandon: () => void): AsyncIterableIterator<T> {
    if (this.#ended) throw transactionClosed()
    const end = () => {
      this.#ends.delete(end)
      // Not waited for: on a lost connection a cursor never hears that it is closed. On a living
      // one the driver lets nothing pass before it is.
      rows.return?.().catch(() => undefined)
      abandon()
    }
    this.#ends.add(end)
    try {
      for await (const chunk of rows) yield chunk
      // Ended here, and not because all was read: nobody may take it for the whole.
      if (!this.#ends.has(end)) throw transactionClosed()
    } finally {
      this.#ends.delete(end)
    }
  }

  /** Ends those that are open, and any that would be opened from now on. */
  end(): void {
    this.#ended = true
    for (const end of this.#ends) end()
  }
}

export function transactionClosed(): OncelyError {
  return new OncelyError(
    'transaction_closed',
    'the transaction was used after its business function had settled; await every statement in it',
  )
}
