import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type CallContext, createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost, one, scope } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

async function childKeys(key: string, names: readonly unknown[], of = scope): Promise<unknown[]> {
  const made: unknown[] = []
  await createIdempotency(host.connect()).withIdempotency(
    of,
    key,
    one,
    (_, { childKey }: CallContext) => {
      for (const name of names) {
        try {
          made.push(childKey(name as string))
        } catch (error) {
          made.push((error as { code: string }).code)
        }
      }
    },
  )
  return made
}

describe('childKey', () => {
  it('is as published: SHA-256 of the JSON array, in base64url', async () => {
    // printf '["oncely.child-key.1","t1","u1","notes.create","K-1","charge"]' |
    //   openssl dgst -sha256 -binary | basenc --base64url
    deepStrictEqual(await childKeys('K-1', ['charge']), [
      'Rir3iJv0xOoGZOdjZYOtZ2QEyoLnlkREPyGzEW5Q4fM',
    ])
  })

  it('is another for every name, key and scope, and the same for every retry', async () => {
    const all = [
      ...(await childKeys('k1', ['a', 'b'])),
      ...(await childKeys('k2', ['a'])),
      ...(await childKeys('k1', ['a'], { ...scope, actor: 'u2' })),
    ]
    strictEqual(new Set(all).size, 4)
    strictEqual(
      all.every((key) => /^[\w-]{43}$/.test(String(key))),
      true,
    )
    let failed: string | undefined
    const idempotency = createIdempotency(host.connect())
    const failing = idempotency.withIdempotency(scope, 'k3', one, (_, { childKey }) => {
      failed = childKey('a')
      throw new Error('no')
    })
    await failing.catch(() => undefined)
    deepStrictEqual(await childKeys('k3', ['a']), [failed])
  })

  it('wants a name of 1 to 200 characters', async () => {
    deepStrictEqual(
      await childKeys('k4', ['', 'x'.repeat(201), undefined]),
      Array.from({ length: 3 }, () => 'invalid_key'),
    )
  })
})
