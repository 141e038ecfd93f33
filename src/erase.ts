import type { Kysely } from 'kysely'

import { OncelyError } from './errors.ts'
import { checkNames } from './options.ts'
import { enter } from './postgres/enter.ts'
import { transactRepeatable } from './postgres/transact.ts'
import { eraseBatch, type Erasure } from './records/erase.ts'
import { problemOfText } from './scope.ts'

/** As many as one transaction locks without holding up the calls of others for long. */
const BATCH = 1_000

/** @throws OncelyError `invalid_scope`. */
export async function erase<DB>(db: Kysely<DB>, schema: string, whose: Erasure): Promise<number> {
  checkNames(whose, ['tenant', 'actor'])
  for (const part of ['tenant', 'actor'] as const) {
    if (part === 'actor' && whose.actor === undefined) continue
    const problem = problemOfText(whose[part])
    if (problem) throw new OncelyError('invalid_scope', `the ${part} ${problem}`)
  }
  let erased = 0
  for (;;) {
    const count = await transactRepeatable(db, async (trx) => ({
      end: 'commit',
      outcome: await eraseBatch(enter(trx, schema), whose, BATCH),
    }))
    erased += count
    if (count < BATCH) return erased
  }
}
