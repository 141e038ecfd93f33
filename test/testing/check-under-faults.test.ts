// Handlers that are wrong on purpose: a proof that finds nothing in them would prove nothing.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { checkUnderFaults } from 'oncely/testing'

import { testDatabase } from '../support/database.ts'
import { type Answer, effectsHost, honest, insert, once, quick } from './effects-host.ts'

const database = testDatabase()
const { subject, wrongs } = effectsHost(database)

describe('checkUnderFaults', () => {
  it('finds nothing in a call that is honest about what it does not know', async () => {
    const careful = subject(honest)
    const { faults, problems } = await checkUnderFaults(careful, quick)
    deepStrictEqual(problems, [])
    const places = faults.map((fault) => `${fault.side} ${fault.message} ${fault.direction}`)
    strictEqual(new Set(places).size, places.length)
    ok(faults.length > 50, String(faults.length))
  })

  it('finds that a write is told to have failed that is there', async () => {
    deepStrictEqual(await wrongs(once), new Set(['misreported']))
  })

  it('finds that a retry takes effect again', async () => {
    const found = await wrongs(async (client, key) => {
      await client.query(insert, [key, 'done'])
      return { kind: 'executed', value: 'done' }
    })
    ok(found.has('duplicated'))
  })

  it('finds that a retry is answered otherwise', async () => {
    let answered = 0
    const found = await wrongs(async (client, key) => ({
      ...(await once(client, key).catch((): Answer => ({ kind: 'unknown' }))),
      value: String((answered += 1)),
    }))
    deepStrictEqual(found, new Set(['misreported']))
  })

  it('finds that an answer is given for something that is not there', async () => {
    const found = await wrongs(async (client, key) => {
      await client.query('begin').catch(() => undefined)
      await client.query(insert, [key, 'done']).catch(() => undefined)
      await client.query('commit').catch(() => undefined)
      return { kind: 'executed', value: 'done' }
    })
    ok(found.has('lost'))
  })

  it('finds that nobody ever has a last word', async () => {
    let made = 0
    const busy = subject(async (client, key) => {
      made += 1
      if (made === 1) return once(client, key)
      await client.query('select 1').catch(() => undefined)
      return { kind: 'in_progress' }
    })
    const { problems } = await checkUnderFaults(busy, { ...quick, attempts: 3 })
    const found = new Set(problems.map(({ wrong }) => wrong))
    ok(found.has('lost') && found.has('stuck'))
  })

  it('finds a call that does not end', async () => {
    const hanging = subject(async (client, key) => {
      const told = await once(client, key).catch(() => undefined)
      if (told) return told
      return new Promise<Answer>(() => undefined)
    })
    const { problems } = await checkUnderFaults(hanging, {
      ...quick,
      patienceMs: 50,
      attempts: 3,
      endMs: 500,
      concurrency: 64,
    })
    ok(problems.some(({ wrong }) => wrong === 'stuck'))
  })

  it('asks for whatever else has to hold, and prepares for it', async () => {
    const prepared = new Set<string>()
    const strict = subject(honest, {
      prepare: (key) => Promise.resolve(prepared.add(key)),
      check: (key, calls) =>
        Promise.resolve([
          { wrong: 'lost', why: `${String(prepared.has(key))} ${String(calls.length > 1)}` },
        ]),
    })
    const { faults, problems } = await checkUnderFaults(strict, quick)
    strictEqual(problems.length, faults.length)
    deepStrictEqual(new Set(problems.map(({ why }) => why)), new Set(['true true']))
  })

  it('finds a first refusal that its caller was told to be an error', async () => {
    const refused = subject((client, key) =>
      once(client, key).then(({ kind }) => ({
        kind: 'rejected',
        refusal: 'no',
        replayed: kind === 'replayed',
      })),
    )
    const nothing = { ...refused, effects: () => Promise.resolve(0) }
    const { problems } = await checkUnderFaults(nothing, { ...quick, expected: 0 })
    deepStrictEqual(new Set(problems.map(({ wrong }) => wrong)), new Set(['misreported']))
  })

  it('has nothing against answers that are the same, first and again', async () => {
    const alike = subject((client, key) =>
      once(client, key).then(
        (): Answer => ({ kind: 'replayed', value: 'done' }),
        (): Answer => ({ kind: 'in_progress' }),
      ),
    )
    deepStrictEqual((await checkUnderFaults(alike, quick)).problems, [])
  })
})
