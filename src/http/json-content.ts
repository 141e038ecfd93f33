import { Refusal } from './refusal.ts'

/**
 * Reads JSON of which nothing is lost: a number that JavaScript would change, such as an amount beyond
 * 2^53 - 1, and a name that stands twice would make two requests the same that are not.
 *
 * @throws Refusal `content_malformed` or `content_ambiguous`.
 */
export function readJson(bytes: Uint8Array): unknown {
  const text = textOf(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal('content_malformed', { detail: 'It is no JSON (RFC 8259).' })
  }
  const problem = problemIn(text)
  if (problem !== undefined) throw new Refusal('content_ambiguous', { detail: problem })
  return value
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal('content_malformed', { detail: 'It is no UTF-8.' })
  }
}

/** A number, or what opens, closes or divides; of a text that is JSON, nothing else counts but texts. */
const TOKEN = /["{}[\],]|-?\d[\d.eE+-]*/g

/** Of a text that is JSON. In one pass, however deep it is: a library that builds a tree can be made to overflow. */
function problemIn(text: string): string | undefined {
  /** The names of each object that is open, and undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let isName = false
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [token] = match
    const names = open.at(-1)
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined)
      isName = token === '{'
    } else if (token === '}' || token === ']') {
      open.pop()
    } else if (token === ',') {
      isName = names !== undefined
    } else if (token === '"') {
      TOKEN.lastIndex = endOfText(text, match.index)
      if (!isName || !names) continue
      const name = JSON.parse(text.slice(match.index, TOKEN.lastIndex)) as string
      if (names.has(name)) return 'A name stands twice in an object.'
      names.add(name)
      isName = false
    } else if (!isKept(token)) {
      return `The number ${token.slice(0, 40)} would be changed.`
    }
  }
  return undefined
}

/** Behind the quote that ends a text: one in front of which there is an even number of backslashes. */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  for (;;) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end + 1
    end = text.indexOf('"', end + 1)
  }
}

/** Whether a number has the digits that were written, with zeros that mean nothing left out. */
export function isKept(literal: string): boolean {
  // A double keeps 15 digits (IEEE 754), whatever they are.
  if (literal.length <= 15 && !/e/i.test(literal)) return true
  const value = Number(literal)
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return false
  return Number.isFinite(value) && digitsOf(literal) === digitsOf(String(value))
}

function digitsOf(literal: string): string {
  const [significand = ''] = literal.toLowerCase().split('e')
  const digits = significand.replace(/[-.]/g, '')
  let [from, to] = [0, digits.length]
  while (digits[from] === '0') from += 1
  while (to > from && digits[to - 1] === '0') to -= 1
  return digits.slice(from, to)
}
