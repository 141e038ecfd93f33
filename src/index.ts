export { createIdempotency, type Idempotency } from './create-idempotency.ts'
export type { IdempotencyOptions } from './options.ts'
export type { Scope } from './scope.ts'
export {
  fingerprint,
  type Fingerprint,
  type FingerprintOptions,
} from './fingerprint/fingerprint.ts'
export type { BusinessFunction } from './call/execute.ts'
export type { CallContext } from './call/context.ts'
export type { Rejection } from './call/rejection.ts'
export type { EmittedEvent } from './outbox/event.ts'
export type { Stored } from './response/stored.ts'
export type {
  Conflict,
  Executed,
  Expired,
  InProgress,
  Rejected,
  Replayed,
  Resource,
  Result,
  Unknown,
} from './result.ts'
export type { RefusalOf, ValueOf } from './with-idempotency.ts'
export { isOncelyError, OncelyError, type OncelyErrorCode } from './errors.ts'
