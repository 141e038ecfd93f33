import { OncelyError } from '../errors.ts'
import { checkMs, checkNames } from '../checks.ts'
import { type Bound, UNBOUNDED } from '../postgres/bound.ts'

/** How long a single call may take. Both also cover the wait for a connection of the pool. */
export interface CallOptions {
  /**
   * Gives the call up when it is aborted: nothing is committed, and it throws `aborted`. Once COMMIT
   * was sent it ends the search for the answer alone: `unknown`. COMMIT is sent with the response where
   * statements share turns, and behind it elsewhere. A statement that is under way goes on at the
   * server, and holds the key until it ends; a call that has joined a transaction waits for it.
   */
  readonly signal?: AbortSignal | undefined
  /**
   * The same after this many milliseconds, from 1 to 2,147,483,647, with `deadline_exceeded`.
   *
   * @defaultValue none: `lockTimeoutMs` bounds each wait for a twin, and the pool its own.
   */
  readonly deadlineMs?: number | undefined
}

const MAX_TIMER_MS = 2_147_483_647

/** A bound that is to be disposed of when the call has ended: a timer would keep it until it is due. */
export interface Deadline extends Bound, Disposable {}

const NONE: Deadline = { ...UNBOUNDED, [Symbol.dispose]: () => undefined }

/** @throws OncelyError `invalid_options`. */
export function deadlineOf(options: CallOptions = {}): Deadline {
  checkNames(options, ['signal', 'deadlineMs'])
  const { signal, deadlineMs } = options
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new OncelyError('invalid_options', 'signal must be an AbortSignal')
  }
  if (deadlineMs !== undefined) checkMs('deadlineMs', deadlineMs, MAX_TIMER_MS)
  if (signal === undefined && deadlineMs === undefined) return NONE
  const over = new AbortController()
  const timer =
    deadlineMs === undefined
      ? undefined
      : setTimeout(() => {
          over.abort()
        }, deadlineMs).unref()
  return {
    signal: AbortSignal.any([over.signal, signal].filter((part) => part !== undefined)),
    check() {
      if (signal?.aborted) {
        const { reason } = signal as { readonly reason: unknown }
        throw new OncelyError('aborted', 'the call was aborted', { cause: reason })
      }
      if (over.signal.aborted) {
        throw new OncelyError('deadline_exceeded', `the call took longer than ${deadlineMs} ms`)
      }
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
    },
  }
}
