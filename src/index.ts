export { createIdempotency } from './create-idempotency.ts'
export type { Idempotency, JoinedIdempotency, JoinedResultOf, ResultOf } from './idempotency.ts'
export type { IdempotencyOptions, OutcomeReport, ResolvedOptions, Retry } from './options.ts'
export type { BusinessIdentity, OperationOptions, Quota, RecordView } from './operation.ts'
export { createSweeper, type Sweeper, type SweeperOptions } from './sweeper.ts'
export type { SweepCounts, SweepOptions } from './batches.ts'
export type { Scope } from './scope.ts'
export {
  fingerprint,
  type Fingerprint,
  type FingerprintOptions,
  type Fingerprints,
} from './fingerprint/fingerprint.ts'
export type { CallOptions } from './call/deadline.ts'
export type { BusinessFunction } from './call/execute.ts'
export type { CallContext } from './call/context.ts'
export type { Rejection } from './call/rejection.ts'
export type { EmittedEvent } from './outbox/event.ts'
export type { Codec, EncodedHttp, HttpHead } from './response/codec.ts'
export type { Stored } from './response/stored.ts'
export type {
  Absent,
  Applied,
  Conflict,
  Denied,
  Duplicate,
  Executed,
  Expired,
  InProgress,
  JoinedResult,
  Lookup,
  QuotaExceeded,
  Rejected,
  Replayed,
  Resolution,
  Resource,
  Result,
  Unknown,
} from './result.ts'
export type {
  PlainShape,
  RefusalOf,
  ReplayOf,
  SameAsFirst,
  Shape,
  ShapeWith,
  ValueOf,
} from './shape.ts'
export type { Erasure } from './records/erase.ts'
export { isOncelyError, OncelyError, type OncelyErrorCode } from './errors.ts'
