/** An intent as it is kept, such as over a restart of the program or a reload of the page. */
export interface JournalEntry {
  /** The key, without quotes. */
  readonly key: string
  /** When it was first sent, in milliseconds since 1970. */
  readonly since: number
  /** What it was sent to. */
  readonly url: string
  /** As it was sent, such as `POST`. */
  readonly method: string
}

/**
 * Where intents are kept that have no final answer yet. What is left in it after a crash is sent again by
 * `intent(entry)`, with the content that the caller has kept.
 */
export interface Journal {
  /** Before a call sends an intent, also one that was sent before. What it throws is thrown, and nothing is sent. */
  begin(entry: JournalEntry): unknown
  /**
   * Once its answer is final. What it throws is left unsaid: an intent too many is sent again, and answered by
   * a replay.
   */
  end(entry: JournalEntry): unknown
}
