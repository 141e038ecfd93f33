import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { OncelyError } from '../errors.ts'
import { checkNames } from '../checks.ts'
import { problemOfText } from '../scope.ts'
import { identityColumns } from './identity.ts'
import { tombstone } from './tombstone.ts'

/** Whose records. */
export interface Erasure {
  /** As in their scope. */
  readonly tenant: string
  /** As in their scope; everybody's of the tenant unless given. */
  readonly actor?: string
}

/**
 * Clears up to so many records of one person: response and resource go, key and fingerprint stay.
 *
 * @returns how many; fewer than the batch when there are no more.
 */
export async function eraseBatch(
  own: OwnTables,
  { tenant, actor }: Erasure,
  batchSize: number,
): Promise<number> {
  const { numAffectedRows } = await own.run(
    own.tables
      .with(
        // Evaluated once: a subquery could be run again for each row, past its limit.
        (cte) => cte('batch').materialized(),
        (db) =>
          db
            .selectFrom('records')
            .select([...identityColumns])
            .where('tenant', '=', tenant)
            .$if(actor !== undefined, (query) => query.where('actor', '=', String(actor)))
            .where((eb) =>
              eb.or([eb('response', 'is not', null), eb('resource_type', 'is not', null)]),
            )
            .orderBy('tenant')
            .orderBy('actor')
            .orderBy('operation')
            .orderBy('key')
            .limit(batchSize)
            .forNoKeyUpdate(),
      )
      .updateTable('records')
      .from('batch')
      .set({
        ...tombstone,
        expired_at: sql`coalesce(records.expired_at, clock_timestamp())`,
        resource_type: null,
        resource_id: null,
      })
      .whereRef('records.tenant', '=', 'batch.tenant')
      .whereRef('records.actor', '=', 'batch.actor')
      .whereRef('records.operation', '=', 'batch.operation')
      .whereRef('records.key', '=', 'batch.key'),
  )
  return Number(numAffectedRows)
}

/** @throws OncelyError `invalid_scope`, or `invalid_options` for anything else in it. */
export function checkErasure(whose: Erasure): Erasure {
  checkNames(whose, ['tenant', 'actor'])
  const { tenant, actor } = whose
  if (Object.hasOwn(whose, 'actor') && actor === undefined) {
    // As from a variable that is not set: everybody of the tenant is not what was meant.
    throw new OncelyError(
      'invalid_scope',
      'the actor is undefined; leave it out for a whole tenant',
    )
  }
  const problem = problemOfText(tenant) ?? (actor === undefined ? undefined : problemOfText(actor))
  if (problem) throw new OncelyError('invalid_scope', `tenant and actor: each ${problem}`)
  return { tenant, ...(actor !== undefined && { actor }) }
}
