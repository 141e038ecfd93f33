import { raced, within } from './bounds.ts'
import type { Call } from './call.ts'

/** An intent as it is kept, such as over a restart of the program or a reload of the page. */
export interface JournalEntry {
  /** The key, without quotes. */
  readonly key: string
  /** When it was first sent, in milliseconds since 1970. */
  readonly since: number
  /**
   * For how long the server knows a key, in milliseconds, as it has announced it by then for the path of `url`;
   * not there where it has not.
   */
  readonly retentionMs?: number | undefined
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
  /**
   * Before a call sends an intent, also one that was sent before; what it returns is awaited, up to the deadline of
   * the call. What it throws is thrown, and nothing is sent.
   */
  begin(entry: JournalEntry): unknown
  /**
   * Once its answer is settled; what it returns is awaited, up to `attemptTimeoutMs`. An answer by 401, 407, 429 or
   * the like leaves it: the same may be sent later. What it throws is left unsaid: an intent too many is sent again,
   * and answered by a replay.
   */
  end(entry: JournalEntry): unknown
}

/** @throws what the journal throws, and what the call ends by, as nothing may be sent then. */
export async function beginEntry(
  journal: Journal | undefined,
  entry: JournalEntry,
  call: Call,
): Promise<void> {
  if (journal) await raced(call.signal, () => journal.begin(entry))
  call.throwIfOver()
}

/** Ends an entry, and stops to wait with the call, which has its answer by now. */
export async function endEntry(
  journal: Journal | undefined,
  entry: JournalEntry,
  call: Call,
  timeoutMs: number,
): Promise<void> {
  if (!journal) return
  const bound = within(call.signal, timeoutMs, 'the end of an entry')
  try {
    await raced(bound.signal, () => journal.end(entry))
  } catch {
    // As promised.
  } finally {
    bound.release()
  }
}
