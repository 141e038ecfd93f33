/** What may stand before a statement: white space and comments. */
const LEAD = String.raw`(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)*`
const END = String.raw`commit|end|abort|prepare\s+transaction`
/** ROLLBACK, but not ROLLBACK TO a savepoint, which stays within the transaction. */
const ROLLBACK = String.raw`rollback(?!(?:\s+(?:work|transaction))?\s+to\b)`

const ending = new RegExp(`^${LEAD}(?:${END}|${ROLLBACK})\\b`, 'i')

/**
 * Whether a statement ends the transaction it runs in. What a business function would write behind
 * it has no transaction any more and stays, whatever becomes of the call.
 */
export function endsTransaction(statement: string): boolean {
  return ending.test(statement)
}
