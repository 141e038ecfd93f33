import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'

import { guardPool } from 'oncely/pg'

import { testDatabase } from '../support/database.ts'
import { hostNames } from '../support/hosts.ts'
import { idleProcess } from '../support/idle-process.ts'

const database = testDatabase()
for (const [how, title] of [
  ['held', 'D1: held'],
  ['idle', 'D2: idle'],
] as const) {
  describe(`${title}: a connection is lost while no statement runs`, () => {
    it('guardPool: the process hears of it once, and lives', async (t) => {
      const { child, exit, says } = await idleProcess(t, database, 'guardPool', how)
      strictEqual(await says(), 'heard')
      child.stdin.write('go on\n')
      strictEqual(await says(), how === 'held' ? 'rejected' : 'executed')
      deepStrictEqual(await exit, [0, null])
    })

    for (const host of hostNames.filter((name) => name !== 'guardPool')) {
      it(`${host}: the process dies of an 'error' event that nobody hears`, async (t) => {
        const { exit, errors } = await idleProcess(t, database, host, how)
        deepStrictEqual(await exit, [1, null])
        ok(/57P01/.test(await errors), await errors)
      })
    }
  })
}

/** As much of a pool as is used, to count who listens. */
class SomePool extends EventEmitter {
  readonly _clients = [new EventEmitter()]
}

describe('guardPool', () => {
  it('returns the pool it was given', () => {
    const pool = database.pool()
    strictEqual(guardPool(pool), pool)
  })

  it('listens to clients that are connected, that connect, and that are handed out', () => {
    const pool = guardPool(new SomePool())
    const [fresh, idle] = [new EventEmitter(), new EventEmitter()]
    pool.emit('connect', fresh)
    pool.emit('acquire', fresh)
    pool.emit('acquire', idle)
    const heard = [pool, ...pool._clients, fresh, idle].map((of) => of.listenerCount('error'))
    deepStrictEqual(heard, [1, 1, 1, 1])
  })

  it('may be called twice, and tells each that wants to hear, once of each client', () => {
    const heard: string[] = []
    const listener = () => heard.push('one')
    const pool = guardPool(guardPool(new SomePool(), { onError: listener }), { onError: listener })
    guardPool(pool, { onError: () => heard.push('two') })
    guardPool(pool)
    const [client] = pool._clients
    const error = new Error('lost')
    client?.emit('error', error)
    pool.emit('error', error, client)
    client?.emit('error', new Error('closed'))
    deepStrictEqual(heard, ['one', 'two'])
    strictEqual(pool.listenerCount('error'), 1)
  })

  it('goes on when a listener throws', () => {
    const heard: Error[] = []
    const pool = guardPool(new SomePool(), {
      onError: () => {
        throw new Error('of the listener')
      },
    })
    guardPool(pool, { onError: (error) => heard.push(error) })
    const error = new Error('lost')
    pool.emit('error', error)
    deepStrictEqual(heard, [error])
  })

  it('refuses what is no pool, and options that there are not', () => {
    for (const none of [undefined, null, {}, 5] as never[]) {
      throws(() => guardPool(none), { code: 'invalid_options' })
    }
    for (const options of [null, { onError: 5 }, { onEror: () => 1 }] as never[]) {
      throws(() => guardPool(database.pool(), options), { code: 'invalid_options' })
    }
  })
})
