import { changesRecords, heals, setsClock } from './visibility.ts'

/** What the statements of one participant have come to so far. */
export class TransactionState {
  /** Whether it may hold locks, or make a change that others see when it ends. */
  isOpen = false
  /** Whether its open transaction has claimed the key, or has changed or deleted its record. */
  holdsRecord = false
  /** Whether its open transaction has failed, so that nothing comes of a statement but its end. */
  hasFailed = false
  /** Whether a transaction of its ended since statements were let go last. */
  hasEndedOne = false
  /** Whether a window begins with one of the statements that were let go last. */
  hasSetClock = false

  begin(): void {
    this.isOpen = false
    this.holdsRecord = false
    this.hasFailed = false
  }

  letGo(): void {
    this.hasSetClock = false
    this.hasEndedOne = false
  }

  sent(statement: string): void {
    this.hasSetClock ||= setsClock(statement)
    this.isOpen = true
  }

  completed(statement: string, answer: unknown): void {
    this.holdsRecord ||= changesRecords(statement) && hasRows(answer)
    if (heals(statement)) this.hasFailed = false
  }

  failed(): void {
    this.hasFailed = true
  }

  /** Behind either. */
  answered(inTransaction: boolean): void {
    this.isOpen = inTransaction
    this.hasEndedOne ||= !inTransaction
    this.holdsRecord &&= inTransaction
    this.hasFailed &&= inTransaction
  }
}

/** Whether a statement has changed something: a claim that found a record has not. */
function hasRows(answer: unknown): boolean {
  const { rowCount } = Object(answer) as { readonly rowCount?: unknown }
  return typeof rowCount === 'number' && rowCount > 0
}
