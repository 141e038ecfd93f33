import type { IdempotencyOptions } from '../options.ts'
import type { TransactionIdentity } from '../postgres/commit-fate.ts'
import { type Scope, scopeOf } from '../scope.ts'

/** What a call notes on its way: for the metrics, and to find its transaction again. */
export interface Observed {
  attempts: number
  /** When the key was won, or its record read. */
  obtainedAt?: number
  /** The transaction that claimed the key, by which it is found again. */
  transaction?: TransactionIdentity | undefined
}

/** Runs a call and tells how it ended. What the listener throws changes nothing. */
export async function observed<Outcome extends { readonly kind: string }>(
  onOutcome: IdempotencyOptions['onOutcome'],
  scope: Scope,
  run: (observed: Observed) => Promise<Outcome>,
): Promise<Outcome> {
  const noted: Observed = { attempts: 0 }
  if (!onOutcome) return run(noted)
  const from = performance.now()
  const tell = (ending: { readonly kind: string; readonly error?: unknown }) => {
    const now = performance.now()
    try {
      const told = onOutcome({
        ...ending,
        scope: scopeOf(scope),
        durationMs: now - from,
        waitMs: (noted.obtainedAt ?? now) - from,
        attempts: noted.attempts,
      })
      // An asynchronous one is nobody's to wait for, and its failure nobody's to hear of.
      if (told instanceof Promise) told.catch(() => undefined)
    } catch {
      // Metrics are not worth a call.
    }
  }
  try {
    const outcome = await run(noted)
    tell({ kind: outcome.kind })
    return outcome
  } catch (error) {
    tell({ kind: 'failed', error })
    throw error
  }
}
