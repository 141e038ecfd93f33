import { isInnerList, parseItem, Token } from 'structured-headers'

import { Refusal } from './refusal.ts'

/**
 * The header of draft-ietf-httpapi-idempotency-key-header-07, section 2.1: an Item Structured Header
 * (RFC 9651) whose value is a String.
 */
export const KEY_HEADER = 'idempotency-key'

/** What people send who do not know of structured headers: a UUID, a ULID, a name with dashes. */
const BARE = /^[A-Za-z0-9][A-Za-z0-9!#$%&'*+\-.^_`|~:/=@]*$/

/**
 * The key in the lines of the header.
 *
 * @param strict - whether a bare token is refused, which otherwise is the same key as its quoted form.
 * @returns undefined where there is no such line.
 * @throws Refusal `key_malformed`.
 */
export function keyIn(lines: readonly string[], strict: boolean): string | undefined {
  if (lines.length === 0) return undefined
  const [line = '', ...more] = lines
  const key =
    more.length === 0 ? (quoted(line, strict) ?? (strict ? undefined : bare(line))) : undefined
  if (key === undefined || !/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(key)) {
    throw new Refusal('key_malformed', {
      detail:
        'Send one Idempotency-Key with a quoted string of 1 to 255 printable ASCII characters, without a leading or trailing space.',
    })
  }
  return key
}

/** Of a String, or a Token where that is allowed; the empty text of any other type. Parameters mean nothing. */
function quoted(line: string, strict: boolean): string | undefined {
  try {
    const item = parseItem(line)
    if (isInnerList(item)) return ''
    const value: unknown = item[0]
    if (typeof value === 'string') return value
    return value instanceof Token && !strict ? value.toString() : ''
  } catch {
    return undefined
  }
}

/** A text that is none of the types, with parameters that are as they have to be. */
function bare(line: string): string | undefined {
  const end = line.includes(';') ? line.indexOf(';') : line.length
  const value = line.slice(0, end).trim()
  // With few digits it is a number to the parser, so with many it is none of ours either.
  const isNumber = /^[0-9]+(?:\.[0-9]*)?$/.test(value)
  if (!BARE.test(value) || isNumber) return undefined
  return quoted(`"${value}"${line.slice(end)}`, true)
}
