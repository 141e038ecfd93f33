import { type Fingerprint, sameFingerprint } from '../fingerprint/fingerprint.ts'
import type { StoredRecord } from '../records/read.ts'
import { decodeResponse } from '../response/codec.ts'
import type { Conflict, Expired, Rejected, Replayed } from '../result.ts'

/**
 * What a later call gets of a committed record. The fingerprint comes first: to a caller who
 * asks for something else, the record says nothing.
 */
export function replay(
  record: StoredRecord,
  fingerprint: Fingerprint,
): Conflict | Expired | Rejected<unknown> | Replayed<unknown> {
  if (!sameFingerprint(record.fingerprint, fingerprint)) return { ok: false, kind: 'conflict' }
  if (record.expired || record.response === null) {
    return { ok: false, kind: 'expired', ...(record.resource && { resource: record.resource }) }
  }
  const value = decodeResponse(record.response)
  return record.outcome === 'rejected'
    ? { ok: false, kind: 'rejected', refusal: value, replayed: true }
    : { ok: true, kind: 'replayed', value }
}
