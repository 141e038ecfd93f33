import { OncelyError } from './errors.ts'

/**
 * Who may share an idempotency key. Each part has 1 to 200 characters (at most 800 octets in
 * UTF-8) and is compared by octet.
 */
export interface Scope {
  /** The customer, account or organisation, from authentication and never from the payload. */
  readonly tenant: string
  /** The user or service acting for it, likewise. A stable id, not a credential that rotates. */
  readonly actor: string
  /** A stable name its owner chose, such as `orders.create`. Never a path. */
  readonly operation: string
}

const parts = ['tenant', 'actor', 'operation'] as const

/**
 * Checks a scope and takes a copy.
 *
 * @throws OncelyError `invalid_scope`.
 */
export function checkScope(scope: Scope): Scope {
  const given: unknown = scope
  if (typeof given !== 'object' || given === null) {
    throw new OncelyError('invalid_scope', 'the scope must be { tenant, actor, operation }')
  }
  for (const part of parts) {
    const problem = problemOfText((given as Record<string, unknown>)[part])
    if (problem) throw new OncelyError('invalid_scope', `the scope's ${part} ${problem}`)
  }
  return scopeOf(scope)
}

/** The scope alone, of whatever carries one. */
export function scopeOf({ tenant, actor, operation }: Scope): Scope {
  return { tenant, actor, operation }
}

/** What keeps a text from being stored in a column of 1 to 200 characters, if anything does. */
export function problemOfText(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'must be a string'
  if (text === '') return 'must not be empty'
  // Four octets a character are the most that UTF-8 takes, so this bounds the octets too.
  if (text.length > 200 && (text.length > 400 || Array.from(text).length > 200))
    return 'has more than 200 characters'
  if (text.includes('\0')) return 'has a NUL character, which PostgreSQL cannot store'
  if (!text.isWellFormed()) return 'has half of a surrogate pair, which UTF-8 cannot express'
  return undefined
}

/**
 * Checks the caller's name for one intent: 1 to 255 printable ASCII characters, none of them a
 * leading or trailing space.
 *
 * @throws OncelyError `invalid_key`.
 */
export function checkKey(key: string): string {
  const given: unknown = key
  if (typeof given !== 'string' || !/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(given)) {
    throw new OncelyError(
      'invalid_key',
      'the idempotency key must be 1 to 255 printable ASCII characters without a leading or trailing space',
    )
  }
  return given
}
