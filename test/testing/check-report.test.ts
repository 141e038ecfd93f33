import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { checkUnderFaults, type Subject } from 'oncely/testing'

import { testDatabase } from '../support/database.ts'
import { type Answer, effectsHost, honest, once, quick } from './effects-host.ts'

const database = testDatabase()
const { subject } = effectsHost(database)

describe('what checkUnderFaults says, and what it refuses', () => {
  it('refuses to prove anything of a subject that does not come through the proxy', async () => {
    const past = subject(once)
    const call = checkUnderFaults({ ...past, open: () => past.open(database.url) })
    await rejects(call, { code: 'invalid_options', message: /open must connect to the url/ })
  })

  it('throws what the subject throws, and goes on with nothing', async () => {
    const own = new Error('own')
    let asked = 0
    const working = subject(once)
    const failing = subject(once, {
      effects: (key) => ((asked += 1) > 5 ? Promise.reject(own) : working.effects(key)),
    })
    await rejects(checkUnderFaults(failing, { ...quick, concurrency: 2 }), own)
    const before = asked
    await database.pool().query('select 1')
    strictEqual(asked, before)
  })

  it('says of a pool that cannot be closed that it is stuck', async () => {
    const careful = subject(honest)
    let opened = 0
    const broken: Subject<Answer> = {
      ...careful,
      async open(url) {
        const inner = await careful.open(url)
        // The first one is that of the call at which nothing strikes.
        opened += 1
        const isFirst = opened === 1
        return {
          call: (key) => inner.call(key),
          async close() {
            await inner.close()
            if (!isFirst) throw new Error('no')
          },
        }
      },
    }
    const { faults, problems } = await checkUnderFaults(broken, quick)
    strictEqual(problems.length, faults.length)
    deepStrictEqual(new Set(problems.map(({ wrong }) => wrong)), new Set(['stuck']))
  })

  it('refuses effects that are no count, or not those of a call at which nothing strikes', async () => {
    for (const count of [undefined, '1', 1, 0.5, -1]) {
      const wrong = subject(once, { effects: () => Promise.resolve(count as number) })
      await rejects(checkUnderFaults(wrong, quick), { code: 'invalid_options' }, String(count))
    }
    await rejects(checkUnderFaults(subject(once), { ...quick, expected: 2 }), /and not 2/)
  })

  it('throws what a fault of your own has thrown', async () => {
    const own = new Error('own')
    const act = () => Promise.reject(own)
    const careful = subject(honest)
    await rejects(checkUnderFaults(careful, { ...quick, kinds: [{ name: 'broken', act }] }), own)
  })

  it('says where, and what callers were told, once for each reason', async () => {
    const { problems, summary } = await checkUnderFaults(subject(once), quick)
    ok(problems.length > 2)
    match(summary, /^faults: \d+, lost: 0, duplicated: 0, misreported: [1-9]\d*, stuck: 0\n/)
    match(summary, /the first call was told that it had failed \(cut .*, \w+ of with claimed as/)
    ok(summary.split('\n').length < 10, summary)
  })

  it('tells of faults that had nothing to strike at', async () => {
    const careful = subject(honest)
    const { faults, missed } = await checkUnderFaults(careful, { ...quick, kinds: ['cancelled'] })
    ok(faults.length > 0 && missed.length > 0)
    const never = { name: 'never', act: () => Promise.resolve(false) }
    await rejects(checkUnderFaults(careful, { ...quick, kinds: [never] }), /none of the faults/)
  })

  it('refuses options that mean nothing', async () => {
    for (const options of [
      { kind: 'cut' },
      { kinds: ['none'] },
      { kinds: [] },
      { kinds: 'cut' },
      { endMs: 0 },
      { expected: -1 },
      { concurrency: 0 },
      { attempts: 0 },
      { onRetry: () => undefined },
    ]) {
      const call = checkUnderFaults(subject(once), options as object)
      await rejects(call, { code: 'invalid_options' }, JSON.stringify(options))
    }
  })
})
