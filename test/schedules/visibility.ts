/** What is known of a transaction that a statement comes behind. */
interface Transaction {
  /** Whether the record is its own, so that nobody else can see it or change it. */
  readonly holdsRecord: boolean
  readonly hasFailed: boolean
}

/**
 * Tells the statements of one participant that others can see, or that see others, from those that
 * do neither: whenever such a one runs, nothing comes of it but for its own transaction, so it is
 * joined to the statement behind it. By the text, and whatever is unknown counts as visible.
 */
export class Visibility {
  #seen = false

  /** To be asked of each statement once, in their order. */
  isVisible(statement: string, { holdsRecord, hasFailed }: Transaction): boolean {
    if (begins.test(statement)) this.#seen = false
    // The end of a transaction that has neither seen nor done anything.
    if (ends.test(statement)) return this.#seen
    if (hidden.some((pattern) => pattern.test(statement))) return false
    if (holdsRecord && readsRecord.test(statement)) return false
    if (hasFailed && !heals(statement)) return false
    this.#seen = true
    return true
  }
}

const begins = /^(begin|start transaction)\b/i
const ends = /^(commit|rollback)$/i

const hidden: readonly RegExp[] = [
  // Not a host's `begin`: a joined call compares its time with that of a record.
  /^start transaction isolation level read committed read write$/i,
  // Rolling back to one is not among them: it undoes rows that somebody may wait for.
  /^(release )?savepoint /i,
  // Settings of the transaction alone.
  /^select\s(?![^]*\bfrom\b)[^]*\bset_config\(/i,
  // No operation here has a quota, so purge alone comes to its table.
  /^(?![^]*"(records|outbox)")[^]*"idem"\."quota_uses"/i,
]

/** Sent with the claim where statements are not waited for, whether or not that is won. */
const readsRecord = /^select "response"[^]* from "idem"\."records"(?![^]*\bfor )/i

/** Whether a transaction that has failed goes on behind it. */
export function heals(statement: string): boolean {
  return /^rollback to savepoint /i.test(statement)
}

/** Whether it changes records: who comes to one of these keys waits until its transaction has ended. */
export function changesRecords(statement: string): boolean {
  return /\b(insert into|update|delete from) "idem"\."records"/i.test(statement)
}

/** Whether a window begins with it: a claim, or what makes a tombstone. */
export function setsClock(statement: string): boolean {
  return /^insert into "idem"\."records"|"expired_at" = clock_timestamp\(\)/i.test(statement)
}
