import type { Scope } from '../scope.ts'

/** The primary key of a record. */
export interface RecordIdentity extends Scope {
  readonly key: string
}

/** The primary key, as a conflict target names it. */
export const identityColumns = ['tenant', 'actor', 'operation', 'key'] as const

/** Picks the record: for `where`. */
export function identityOf(record: RecordIdentity): RecordIdentity {
  const { tenant, actor, operation, key } = record
  return { tenant, actor, operation, key }
}
