import { strictEqual } from 'node:assert/strict'
import { it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { Hold } from '../../src/postgres/hold.ts'
import { PreparedNames } from '../../src/postgres/prepared-names.ts'

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
