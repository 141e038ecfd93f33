/** What a statement does to the transaction it runs in, as far as its first words tell. */
export type TransactionControl = 'ends' | 'sets a savepoint' | 'rolls back to a savepoint' | 'none'

/**
 * Reads the first words of a statement. What a business function writes behind the end of its
 * transaction has none any more and stays, whatever becomes of the call.
 */
export function transactionControl(statement: string): TransactionControl {
  if (ordinary.test(statement)) return 'none'
  const [first, second, third] = firstWords(statement)
  switch (first) {
    case 'abort':
    case 'commit':
    case 'end':
      return 'ends'
    case 'savepoint':
      return 'sets a savepoint'
    case 'prepare':
      return second === 'transaction' ? 'ends' : 'none'
    case 'rollback': {
      const object = second === 'work' || second === 'transaction' ? third : second
      return object === 'to' ? 'rolls back to a savepoint' : 'ends'
    }
    default:
      return 'none'
  }
}

/** How nearly all statements begin; the others are looked at more closely. */
const ordinary = /^(?:select|insert|update|delete|with|merge)\s/

const word = /[a-z_][\w$]*/iy
const space = /\s+/y
const emptyStatements = /[\s;]+/y
const lineComment = /--[^\n\r]*/y

function firstWords(statement: string): string[] {
  const words: string[] = []
  let at = afterNothing(statement, 0, emptyStatements)
  while (words.length < 3) {
    word.lastIndex = at
    const found = word.exec(statement)?.[0]
    if (found === undefined) break
    words.push(found.toLowerCase())
    at = afterNothing(statement, at + found.length, space)
  }
  return words
}

/** Where the statement goes on behind white space and comments. */
function afterNothing(statement: string, from: number, blank: RegExp): number {
  for (let at = from; ;) {
    const next = Math.max(
      endOf(blank, statement, at),
      endOf(lineComment, statement, at),
      endOfBlockComment(statement, at),
    )
    if (next === at) return at
    at = next
  }
}

function endOf(pattern: RegExp, statement: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(statement)?.[0].length ?? 0)
}

/** PostgreSQL's block comments nest. */
function endOfBlockComment(statement: string, from: number): number {
  let depth = 0
  let at = from
  do {
    if (statement.startsWith('/*', at)) {
      depth += 1
      at += 2
    } else if (depth > 0 && statement.startsWith('*/', at)) {
      depth -= 1
      at += 2
    } else if (depth > 0) {
      at += 1
    }
  } while (depth > 0 && at < statement.length)
  return at
}
