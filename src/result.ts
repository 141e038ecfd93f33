/** What a record points to: a business object, named by the one who made it. */
export interface Resource {
  /** The kind of object, such as `order`; 1 to 200 characters. */
  readonly type: string
  /** Which one; 1 to 200 characters. */
  readonly id: string
}

/** This call claimed the key, the business function ran, and everything is committed. */
export interface Executed<Value> {
  readonly ok: true
  readonly kind: 'executed'
  /** What the function returned, in its stored form: equal to what every replay gets. */
  readonly value: Value
  /** Present when the answer to COMMIT was lost, and it was looked up that it took effect. */
  readonly recovered?: true
}

/** The key was used before with the same fingerprint; nothing ran. */
export interface Replayed<Value> {
  readonly ok: true
  readonly kind: 'replayed'
  /** Equal to what the first caller got. */
  readonly value: Value
}

/** A refusal that the business declared final by `context.reject`; none of its writes stayed. */
export interface Rejected<Refusal> {
  readonly ok: false
  readonly kind: 'rejected'
  /** What was given to `context.reject`, in its stored form. */
  readonly refusal: Refusal
  /** Whether an earlier call was refused, and this one only told so again. */
  readonly replayed: boolean
  /** Present when the answer to COMMIT was lost, and it was looked up that it took effect. */
  readonly recovered?: true
}

/** The key was used before with another fingerprint. Says nothing of the first call. */
export interface Conflict {
  readonly ok: false
  readonly kind: 'conflict'
}

/** The key was used before with the same fingerprint; its response is past the replay window. */
export interface Expired {
  readonly ok: false
  readonly kind: 'expired'
  /** What the first call pointed to with `context.resource`, if it did. */
  readonly resource?: Resource
}

/** The key could not be had in time, most often because another transaction holds it. */
export interface InProgress {
  readonly ok: false
  readonly kind: 'in_progress'
  /** How long to wait before asking again with the same key, in milliseconds. */
  readonly retryAfterMs: number
  /** PostgreSQL's reason, `55P03` (lock not available); none when the key kept changing hands. */
  readonly sqlState?: '55P03'
}

/**
 * COMMIT was sent, its answer was lost, and what became of it could not be looked up within
 * `resolveTimeoutMs`: the call may have taken effect or not. Not a failure.
 * Asking again with the same key, fingerprint and function ends in the truth.
 */
export interface Unknown {
  readonly ok: false
  readonly kind: 'unknown'
  /** How long to wait before asking again with the same key, in milliseconds. */
  readonly retryAfterMs: number
  /** What became of the connection. For the log, not for the caller. */
  readonly cause: unknown
}

/** With `authorize`: the caller may no longer see what the record holds. */
export interface Denied {
  readonly ok: false
  readonly kind: 'denied'
}

/** What a business object under another key means to the caller. */
export type Resolution<Value> =
  | {
      /** The same intent: here is its answer. */
      readonly disposition: 'replay'
      /** The answer, as it is. */
      readonly value: Value
    }
  | {
      /** Another intent, `conflict`; or one that people have to look at, `manual`. */
      readonly disposition: 'conflict' | 'manual'
    }

/** With `businessIdentity`: the business object exists under another key; this one is not used. */
export type Duplicate<Value> = {
  readonly ok: false
  readonly kind: 'duplicate'
} & Resolution<Value>

/** With `quota`: the actor has used up the budget of new keys. Nothing is stored. */
export interface QuotaExceeded {
  readonly ok: false
  readonly kind: 'quota_exceeded'
  /** When the oldest of the counted keys leaves the window, in milliseconds from now. */
  readonly retryAfterMs: number
}

/**
 * How a call with an idempotency key ended. Discriminated by `kind`, and by `ok` into the two that
 * have a value and the others. `Replay` is what `replay` makes, where it is set.
 */
export type Result<Value, Refusal = unknown, Replay = Value> =
  Executed<Value> | Replayed<Replay> | Rejected<Refusal> | Conflict | Expired | InProgress | Unknown

/** This call claimed the key and the business function ran, inside the caller's transaction. */
export interface Applied<Value> {
  readonly ok: true
  readonly kind: 'applied'
  /** What the function returned, in its stored form. It holds once the caller has committed. */
  readonly value: Value
}

/** How a call ended that joined the caller's transaction, who alone knows whether it commits. */
export type JoinedResult<Value, Refusal = unknown, Replay = Value> =
  Applied<Value> | Exclude<Result<Value, Refusal, Replay>, Executed<Value> | Unknown>

/** Nothing is committed under the key; it may be executed at this moment, or never have been. */
export interface Absent {
  readonly ok: false
  readonly kind: 'absent'
}

/** What a look at a key found. */
export type Lookup<Value, Refusal = unknown> =
  Replayed<Value> | Rejected<Refusal> | Conflict | Expired | InProgress | Absent
