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

/** A text, a number, or what opens, closes or divides; of a text that is JSON, nothing else counts. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]/g

/** Of a text that is JSON. In one pass, however deep it is: a library that builds a tree can be made to overflow. */
function problemIn(text: string): string | undefined {
  /** The names of each object that is open, and undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (const [token] of text.matchAll(TOKEN)) {
    const names = open.at(-1)
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined)
      isName = token === '{'
    } else if (token === '}' || token === ']') {
      open.pop()
    } else if (token === ',') {
      isName = names !== undefined
    } else if (!token.startsWith('"')) {
      if (!isKept(token)) return `The number ${token.slice(0, 40)} would be changed.`
    } else if (isName && names) {
      const name = JSON.parse(token) as string
      if (names.has(name)) return 'A name stands twice in an object.'
      names.add(name)
      isName = false
    }
  }
  return undefined
}

/** Whether a number has the digits that were written, with zeros that mean nothing left out. */
export function isKept(literal: string): boolean {
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
