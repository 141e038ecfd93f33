// Handlers that are wrong on purpose: a proof that finds nothing in them would prove nothing.
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { before, describe, it } from 'node:test'

import { guardPool } from 'oncely/pg'
import { type CheckOptions, checkUnderFaults, type Subject } from 'oncely/testing'
import { Pool, type PoolClient } from 'pg'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const direct = database.pool()

interface Answer {
  readonly kind: 'executed' | 'replayed' | 'rejected' | 'unknown' | 'in_progress'
  readonly refusal?: string
  readonly replayed?: boolean
  readonly value?: string
}

const insert = 'insert into effects values ($1, $2)'

function subject(
  call: (client: PoolClient, key: string) => Promise<Answer>,
  more: Partial<Subject<Answer>> = {},
): Subject<Answer> {
  return {
    url: database.url,
    open(url) {
      const pool = guardPool(new Pool({ connectionString: url, max: 4 }))
      return {
        async call(key) {
          const client = await pool.connect()
          try {
            return await call(client, key)
          } finally {
            client.release(true)
          }
        },
        close: () => pool.end(),
      }
    },
    async effects(key) {
      const { rowCount } = await direct.query('select from effects where key = $1', [key])
      return rowCount ?? 0
    },
    ...more,
  }
}

const quick: CheckOptions<Answer> = { kinds: ['cut'], patienceMs: 2_000, pauseMs: 1, attempts: 10 }

async function wrongs(call: (client: PoolClient, key: string) => Promise<Answer>) {
  const { problems } = await checkUnderFaults(subject(call), quick)
  return new Set(problems.map(({ wrong }) => wrong))
}

/** Keeps the promise by hand: claim, write and answer in one statement. */
async function once(client: PoolClient, key: string): Promise<Answer> {
  const { rowCount } = await client.query(
    `with claimed as (insert into answers values ($1, 'done') on conflict do nothing returning key)
     insert into effects select key, 'done' from claimed`,
    [key],
  )
  return { kind: rowCount === 1 ? 'executed' : 'replayed', value: 'done' }
}

describe('checkUnderFaults', () => {
  before(async () => {
    await direct.query('create table effects (key text, told text)')
    await direct.query('create table answers (key text primary key, told text)')
  })

  it('finds nothing in a call that is honest about what it does not know', async () => {
    const honest = subject((client, key) =>
      once(client, key).catch((): Answer => ({ kind: 'unknown' })),
    )
    const { faults, problems } = await checkUnderFaults(honest, quick)
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
    const found = await wrongs(async (client, key) => {
      made += 1
      if (made === 1) return once(client, key)
      await client.query('select 1').catch(() => undefined)
      return { kind: 'in_progress' }
    })
    ok(found.has('lost') && found.has('stuck'))
  })

  it('finds a call that does not end', async () => {
    const forever = new Set<string>()
    const hanging = subject(async (client, key) => {
      const told = await once(client, key).catch(() => undefined)
      if (told) return told
      forever.add(key)
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
    const strict = subject(
      (client, key) => once(client, key).catch((): Answer => ({ kind: 'unknown' })),
      {
        prepare: (key) => Promise.resolve(prepared.add(key)),
        check: (key, calls) =>
          Promise.resolve([
            { wrong: 'lost', why: `${String(prepared.has(key))} ${String(calls.length > 1)}` },
          ]),
      },
    )
    const { faults, problems } = await checkUnderFaults(strict, quick)
    strictEqual(problems.length, faults.length)
    deepStrictEqual(new Set(problems.map(({ why }) => why)), new Set(['true true']))
  })

  it('refuses to prove anything of a subject that does not come through the proxy', async () => {
    const past = subject(once)
    const call = checkUnderFaults({ ...past, open: () => past.open(database.url) })
    await rejects(call, { code: 'invalid_options', message: /open must connect to the url/ })
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

  it('throws what the subject throws, and goes on with nothing', async () => {
    const own = new Error('own')
    let asked = 0
    const honest = subject(once)
    const failing = subject(once, {
      effects: (key) => ((asked += 1) > 5 ? Promise.reject(own) : honest.effects(key)),
    })
    await rejects(checkUnderFaults(failing, { ...quick, concurrency: 2 }), own)
    const before = asked
    await direct.query('select 1')
    strictEqual(asked, before)
  })

  it('says of a pool that cannot be closed that it is stuck', async () => {
    const honest = subject((client, key) =>
      once(client, key).catch((): Answer => ({ kind: 'unknown' })),
    )
    let opened = 0
    const broken: Subject<Answer> = {
      ...honest,
      async open(url) {
        const inner = await honest.open(url)
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
    const honest = subject((client, key) =>
      once(client, key).catch((): Answer => ({ kind: 'unknown' })),
    )
    await rejects(checkUnderFaults(honest, { ...quick, kinds: [{ name: 'broken', act }] }), own)
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

  it('says where, and what callers were told, once for each reason', async () => {
    const { problems, summary } = await checkUnderFaults(subject(once), quick)
    ok(problems.length > 2)
    match(summary, /^faults: \d+, lost: 0, duplicated: 0, misreported: [1-9]\d*, stuck: 0\n/)
    match(summary, /the first call was told that it had failed \(cut .*, \w+ of with claimed as/)
    ok(summary.split('\n').length < 10, summary)
  })

  it('tells of faults that had nothing to strike at', async () => {
    const honest = subject((client, key) =>
      once(client, key).catch((): Answer => ({ kind: 'unknown' })),
    )
    const { faults, missed } = await checkUnderFaults(honest, { ...quick, kinds: ['cancelled'] })
    ok(faults.length > 0 && missed.length > 0)
    const never = { name: 'never', act: () => Promise.resolve(false) }
    await rejects(checkUnderFaults(honest, { ...quick, kinds: [never] }), /none of the faults/)
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
