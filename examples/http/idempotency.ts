import { createIdempotency } from 'oncely'

import { db } from '../quick-start.ts'

export const idempotency = createIdempotency(db)

/** Whose id your authentication, which comes before, has found: never a token, and never nobody. */
export function callerOf(userId: string | null | undefined) {
  if (!userId) throw new Error('who calls is not known')
  return { tenant: 'acme', actor: userId }
}
