import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'

import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import {
  notesHost,
  nothing,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { fromSources } from '../support/sources.ts'

const database = testDatabase()
const host = notesHost(database)
const db = host.connect()
const idempotency = createIdempotency(db)
const patient = idempotency.withOptions({ lockTimeoutMs: PATIENCE_MS })

const root = join(import.meta.dirname, '../..')
const script = join(root, 'test/support/dying-caller.ts')

/** A process that has claimed the key, written its note, and not come to its end. */
async function dyingCaller(t: TestContext, key: string, how: 'hang' | 'reject') {
  const child = spawn(process.execPath, [...fromSources, script, database.url, key, how], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const errors = child.stderr.toArray()
  const [said] = (await Promise.race([once(child.stdout, 'data'), exit])) as [unknown]
  if (String(said) !== 'claimed\n') throw new Error((await errors).join(''))
  return { child, exit, errors }
}

const retry = (key: string) => patient.withIdempotency(scope, key, one, writeNote)

describe('the process dies inside the function', () => {
  it('A1, A9: killed: the claim dies with its transaction and a retry executes at once', async (t) => {
    const { child, exit } = await dyingCaller(t, 'killed', 'hang')
    // Nobody but the living holds the key.
    const hasty = idempotency.withOptions({ lockTimeoutMs: 1 })
    strictEqual((await hasty.withIdempotency(scope, 'killed', one, writeNote)).kind, 'in_progress')
    child.kill('SIGKILL')
    deepStrictEqual(await exit, [null, 'SIGKILL'])
    deepStrictEqual(await retry('killed'), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('killed'), written)
  })

  it('A1: by a rejection that nobody awaits: likewise', async (t) => {
    const { exit, errors } = await dyingCaller(t, 'rejected', 'reject')
    deepStrictEqual(await exit, [1, null])
    strictEqual((await errors).join('').includes('nobody awaits this'), true)
    deepStrictEqual(await retry('rejected'), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('rejected'), written)
  })
})

describe('a rejection that nobody awaits', () => {
  it('A1: of a statement fails the call, as the statement has left the transaction aborted', async () => {
    const detached = Promise.withResolvers<unknown>()
    const call = idempotency.withIdempotency(scope, 'detached', one, async (tx, context) => {
      await writeNote(tx, context)
      void writeNote(tx, context).catch(detached.resolve)
      return 'done'
    })
    const failure: unknown = await call.catch((error: unknown) => error)
    strictEqual(failure, await detached.promise)
    deepStrictEqual(await host.left('detached'), nothing)
    strictEqual((await retry('detached')).kind, 'executed')
  })
})
