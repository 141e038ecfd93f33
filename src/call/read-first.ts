import type { Kysely } from 'kysely'

import type { Operation } from '../operation.ts'
import { type Bound, unlessAborted } from '../postgres/bound.ts'
import { enterHeld } from '../postgres/enter.ts'
import { HeldConnection } from '../postgres/held-connection.ts'
import { OVER } from '../postgres/within.ts'
import type { Claim } from '../records/claim.ts'
import { readRecord } from '../records/read.ts'
import { lockFor } from './attempt.ts'
import { replay } from './replay.ts'

/**
 * Answers a replay by one select, in no transaction. What fails here fails in the transaction that
 * follows as well, which tells it.
 *
 * @returns undefined where the call has to go on: nothing is committed under the key, or statements of
 * the host's have to agree with the record.
 */
export async function readFirst<DB>(
  db: Kysely<DB>,
  operation: Operation<DB>,
  claim: Claim,
  bound: Bound,
) {
  if (lockFor(operation) !== 'none') return undefined
  const { signal } = bound
  const givenUp = Promise.withResolvers<undefined>()
  let held: HeldConnection | undefined
  const reading = db.connection().execute(async (on) => {
    held = await HeldConnection.of(on)
    const read = readRecord(enterHeld(held, operation.schema), claim, 'none')
    // On a plain dialect the connection stays out of the pool until it has answered.
    return held.control ? Promise.race([read, givenUp.promise]) : read
  }, signal && { signal })
  const record = await unlessAborted(
    bound,
    reading.catch(() => undefined),
  )
  if (record === OVER) {
    // A link that does not answer would keep the connection for ever.
    held?.control?.abandon(new Error('the call was given up'))
    givenUp.resolve(undefined)
    return undefined
  }
  return record && replay(record, claim, claim.fingerprints, operation, noTransaction)
}

function noTransaction(): never {
  throw new Error('only options that lock the record have statements of the host')
}
