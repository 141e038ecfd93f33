import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { Hold } from '../../src/postgres/hold.ts'
import { PreparedNames } from '../../src/postgres/prepared-names.ts'
import type { Turns } from '../../src/postgres/turns.ts'

it('a connection that is held for long keeps nothing of the transactions that are over', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const hold = new Hold({}, {}, new PreparedNames(false))
  const answered = async () => {
    const answer = {}
    await hold.unlessAbandoned(Promise.resolve(answer))
    return new WeakRef(answer)
  }
  const answer = await answered()
  await new Promise(setImmediate)
  gc()
  strictEqual(answer.deref(), undefined)
  hold.abandon(new Error('given up'))
})

describe('a ROLLBACK that nobody waits for', () => {
  /** A client that hands over what it lingers with, and is told of it whenever a test says so. */
  const client = () => {
    const seen = { destroyed: 0, alone: () => undefined as unknown }
    const turns = {
      gather: () => undefined,
      linger<T>(execute: () => T, alone: () => void): T {
        seen.alone = alone
        return execute()
      },
    }
    const stream = { destroy: () => (seen.destroyed += 1) }
    const client = { turns: turns as unknown as Turns, sendsOneByOne: true, stream }
    const hold = new Hold({}, client, new PreparedNames(false))
    hold.rollBackBehind()
    return { hold, seen }
  }

  it('takes its connection with it where it fails, as the transaction may be open', async () => {
    const { hold, seen } = client()
    hold.rollingBackBehind(() => Promise.reject(new Error('not rolled back')))
    await new Promise(setImmediate)
    strictEqual(seen.destroyed, 1)
  })

  it('and where it is not answered, whoever has the connection by then', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const { hold, seen } = client()
    hold.rollingBackBehind(() => new Promise(() => undefined))
    seen.alone()
    context.mock.timers.tick(9_999)
    await new Promise(setImmediate)
    strictEqual(seen.destroyed, 0)
    context.mock.timers.tick(1)
    await new Promise(setImmediate)
    strictEqual(seen.destroyed, 1)
  })

  it('is of the one transaction', async () => {
    const { hold } = client()
    const before = hold.rollsBackBehind
    await hold.beginning(() => Promise.resolve())
    deepStrictEqual([before, hold.rollsBackBehind], [true, false])
  })
})
