import { checkMs, invalid } from '../checks.ts'
import { checkKey, newKey } from './key.ts'

/** What is to be kept of an intent: an entry of the journal has it, and so has the intent itself. */
export interface KeptIntent {
  /** The key, without quotes. */
  readonly key: string
  /**
   * When it was first sent, in milliseconds since 1970; a time to come counts as now.
   *
   * @defaultValue never.
   */
  readonly since?: number | undefined
  /**
   * For how long the server knows the key, in milliseconds from 0, as it was announced when this was kept.
   *
   * @defaultValue nothing was announced.
   */
  readonly retentionMs?: number | undefined
}

/** What is known of an intent, over all of its calls. */
export interface Sent {
  readonly key: string
  /** When it was first sent, unless all of its attempts have done nothing. */
  since: number | undefined
  /** How many attempts may have taken effect, or may yet. */
  open: number
  readonly retentionMs: number | undefined
}

/** @throws OncelyError `invalid_options`: no word of a key must not make a new one by accident. */
export function sentOf(kept: KeptIntent | undefined): Sent {
  if (kept === undefined)
    return { key: newKey(), since: undefined, open: 0, retentionMs: undefined }
  if (typeof kept !== 'object' || (kept as unknown) === null) {
    throw invalid('an intent is given as an object with its key: { key }')
  }
  const { key, since, retentionMs } = kept
  checkKey(key)
  if (since !== undefined && !(Number.isFinite(since) && since >= 0)) {
    throw invalid('since must be milliseconds since 1970')
  }
  if (retentionMs !== undefined) checkMs('retentionMs', retentionMs, Number.MAX_SAFE_INTEGER, 0)
  if (since === undefined) return { key, since, open: 0, retentionMs }
  return { key, since: Math.min(since, Date.now()), open: 1, retentionMs }
}
