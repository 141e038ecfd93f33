// What a team proves its own handlers with: faults on the wire, and what callers were told of them.
export type { Fault, FaultKind, OwnFault } from './testing/fault.ts'
export { type FaultProxy, type PlannedFault, startFaultProxy } from './testing/fault-proxy.ts'
export type { Direction, SeenMessage } from './testing/messages.ts'
export { type RetryOptions, retryUntilFinal } from './testing/retry-until-final.ts'
export type { Told, ToldCall } from './testing/calls.ts'
export type { Reading } from './testing/reading.ts'
export {
  type CheckOptions,
  type CheckReport,
  checkUnderFaults,
} from './testing/check-under-faults.ts'
export type { Problem } from './testing/summary.ts'
export type { Opened, Subject } from './testing/subject.ts'
export type { Finding, Wrong } from './testing/judge.ts'
