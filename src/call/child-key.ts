import { hash } from 'node:crypto'

import { OncelyError } from '../errors.ts'
import { problemOfText, type Scope } from '../scope.ts'

/**
 * A key for a call to another service on behalf of this one: the same for every retry of the same
 * intent, and another for every name, key and scope. SHA-256 of the JSON array of
 * `oncely.child-key.1`, tenant, actor, operation, key and name, in base64url: 43 characters.
 *
 * @throws OncelyError `invalid_key` for a name that is not a text of 1 to 200 characters.
 */
export function childKeyOf(scope: Scope, key: string, name: string): string {
  const problem = problemOfText(name)
  if (problem) throw new OncelyError('invalid_key', `the name of a child key ${problem}`)
  const { tenant, actor, operation } = scope
  const path = JSON.stringify(['oncely.child-key.1', tenant, actor, operation, key, name])
  return hash('sha256', path, 'base64url')
}
