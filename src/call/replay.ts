import type { Transaction } from 'kysely'

import { type Fingerprint, matches } from '../fingerprint/fingerprint.ts'
import { OncelyError } from '../errors.ts'
import type { Operation, RecordView } from '../operation.ts'
import type { Bound } from '../postgres/bound.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { lend } from '../postgres/lent-transaction.ts'
import { restoreLockTimeout } from '../postgres/settings.ts'
import type { RecordIdentity } from '../records/identity.ts'
import type { StoredRecord } from '../records/read.ts'
import type { Conflict, Denied, Expired, Rejected, Replayed } from '../result.ts'

/** Of which fingerprints a record may be; any, where there are none. */
type Accepted = readonly Fingerprint[] | undefined

/** Replays in the transaction that has read the record. */
export async function replayIn<DB>(
  trx: Transaction<DB>,
  own: OwnTables,
  record: StoredRecord,
  { fingerprints, ...identity }: RecordIdentity & { readonly fingerprints: Accepted },
  operation: Operation<DB>,
  bound: Bound,
) {
  if (operation.authorize || operation.replay) {
    // Their statements are the host's, under the host's own bound.
    await restoreLockTimeout(own)
    own.hostRuns()
  }
  return replay(record, identity, fingerprints, operation, (run) => lend(trx, run, bound))
}

/** Runs a function of the host's in the transaction that has read the record. */
type Lent<DB> = <Value>(run: (tx: Transaction<DB>) => Promise<Value> | Value) => Promise<Value>

/**
 * What a later call gets of a committed record. The fingerprint comes first: to a caller who asks for
 * something else, the record says nothing. Then whether the caller may see it, then whether there is
 * still something to see.
 */
export async function replay<DB>(
  record: StoredRecord,
  identity: RecordIdentity,
  accepted: Accepted,
  operation: Operation<DB>,
  lent: Lent<DB>,
): Promise<Conflict | Denied | Expired | Rejected<unknown> | Replayed<unknown>> {
  if (accepted && !matches(record.fingerprint, accepted)) return { ok: false, kind: 'conflict' }
  const { authorize, replay: rebuild, codec } = operation
  const view = viewOf(record, identity)
  if (authorize) {
    const allowed: unknown = await lent((tx) => authorize(tx, view))
    // Whatever is not a clear yes, such as a forgotten return, is a no.
    if (allowed !== true) return { ok: false, kind: 'denied' }
  }
  if (view.state === 'expired' || record.response === null) {
    return { ok: false, kind: 'expired', ...(record.resource && { resource: record.resource }) }
  }
  if (view.state === 'rejected') {
    const refusal: unknown = await codec.decode(record.response, record.head)
    return { ok: false, kind: 'rejected', refusal, replayed: true }
  }
  if (rebuild) {
    const value = await lent((tx) => rebuild(tx, view))
    return { ok: true, kind: 'replayed', value }
  }
  if (!record.responseStored) {
    throw new OncelyError(
      'response_not_stored',
      'the call was stored with `replay`, which makes its answer anew: read it with that option',
    )
  }
  return { ok: true, kind: 'replayed', value: await codec.decode(record.response, record.head) }
}

function viewOf(record: StoredRecord, identity: RecordIdentity): RecordView {
  const { tenant, actor, operation, key } = identity
  const expired = record.expired || record.response === null
  return Object.freeze({
    scope: Object.freeze({ tenant, actor, operation }),
    key,
    state: expired ? 'expired' : record.outcome,
    createdAt: record.createdAt,
    ...(record.resource && { resource: record.resource }),
  })
}
