import { within } from './bounds.ts'

/** One call of a client, from its start to its deadline. */
export interface Call {
  /** Aborts with the caller's signal, or at the deadline. */
  readonly signal: AbortSignal
  /** Whether the deadline is over. */
  isLate(): boolean
  /** In milliseconds, by a clock that nobody sets. */
  leftMs(): number
  /** In milliseconds since 1970; no less than what has passed, wherever the clock is set to meanwhile. */
  now(): number
  /** What is thrown where the deadline is over. */
  readonly late: DOMException
  /** @throws the reason of the caller's signal, if that has aborted. */
  throwIfAborted(): void
  /** @throws the same, or `late`. */
  throwIfOver(): void
  /** To be called in the end. */
  readonly release: () => void
}

export function startCall(caller: AbortSignal | undefined, deadlineMs: number): Call {
  const bound = within(caller, deadlineMs, 'the call')
  const { signal, late } = bound
  const began = { at: Date.now(), tick: performance.now() }
  const passedMs = () => performance.now() - began.tick
  const isLate = () => signal.reason === late || passedMs() >= deadlineMs
  const throwIfAborted = () => {
    if (signal.aborted && signal.reason !== late) throw signal.reason
  }
  return {
    signal,
    isLate,
    leftMs: () => (isLate() ? 0 : deadlineMs - passedMs()),
    now: () => Math.max(Date.now(), began.at + passedMs()),
    late,
    throwIfAborted,
    throwIfOver() {
      throwIfAborted()
      if (isLate()) throw late
    },
    release: bound.release,
  }
}
