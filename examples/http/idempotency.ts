import { createIdempotency } from 'oncely'

import { db } from '../quick-start.ts'

export const idempotency = createIdempotency(db)

/** Of your authentication, which comes before. */
export function callerOf(authorization: string | null | undefined) {
  return { tenant: 'acme', actor: authorization ?? 'nobody' }
}
