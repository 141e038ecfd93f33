import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { afterEach, before, beforeEach, describe, it } from 'node:test'

import { sql } from 'kysely'

import { startOncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { insertDue, keysIn, numbered } from '../support/sweeping.ts'
import { untilWaiting } from '../support/waiting.ts'

const database = testDatabase()

/** An advisory lock that every change of a record waits for: what holds a batch open. */
const GATE = 4711

const stopping = 'oncely: stopping behind the batch under way; again to stop at once\n'

beforeEach(() => database.watcher.deleteFrom('records').execute())

const children: ChildProcess[] = []
// What a failed test leaves running would keep the file from ending.
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** The command beside the test, and its output line by line. */
function start(...args: string[]) {
  const url = `${database.url}?application_name=sweeper`
  const { child, ended } = startOncely(['sweep', '--url', url, ...args])
  children.push(child)
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (text: string) => {
      said[stream] += text
      for (const look of waiting) look()
    })
  }
  const untilSaid = (stream: 'stdout' | 'stderr', text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (said[stream].includes(text)) resolve()
      }
      waiting.add(look)
      look()
      child.on('close', () => {
        reject(new Error(`it ended and had not said: ${text}`))
      })
    })
  return { child, ended, untilSaid }
}

describe('oncely sweep', () => {
  before(() =>
    sql`
      create function public.gate() returns trigger language plpgsql as $$ begin
        perform pg_advisory_xact_lock_shared(${sql.lit(GATE)});
        return new;
      end $$;
      create trigger gate before update on idem.records
        for each statement execute function public.gate()`.execute(database.watcher),
  )

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops by ${signal} between two rounds, with the total`, async () => {
      await insertDue(database, numbered('due', 3))
      const { child, ended, untilSaid } = start('--interval', '3600')
      await untilSaid('stdout', 'cleared 3, purged 0\n')
      child.kill(signal)
      deepStrictEqual(await ended, {
        status: 0,
        stdout: 'cleared 3, purged 0\ntotal: cleared 3, purged 0\n',
        stderr: stopping,
      })
    })

    it(`finishes the batch under way when ${signal} comes, and begins no other`, async () => {
      await insertDue(database, numbered('due', 6))
      const { ended } = await database.watcher.connection().execute(async (holder) => {
        await sql`select pg_advisory_lock(${GATE})`.execute(holder)
        const once = signal === 'SIGINT' ? ['--once'] : []
        const { child, ended, untilSaid } = start('--batch', '2', ...once)
        await untilWaiting(database.watcher, 'sweeper')
        child.kill(signal)
        await untilSaid('stderr', stopping)
        await sql`select pg_advisory_unlock(${GATE})`.execute(holder)
        return { ended }
      })
      const { status, stdout, stderr } = await ended
      deepStrictEqual([status, stderr], [0, stopping])
      match(stdout, /^(cleared 2, purged 0\n)?total: cleared 2, purged 0\n$/)
      strictEqual((await keysIn(database, 'completed')).length, 4)
    })
  }

  it('ends at once by a second signal, and loses the batch under way alone', async () => {
    await insertDue(database, ['due'])
    await database.watcher.connection().execute(async (holder) => {
      await sql`select pg_advisory_lock(${GATE})`.execute(holder)
      const { child, ended, untilSaid } = start()
      const { pid } = await untilWaiting(database.watcher, 'sweeper')
      child.kill('SIGINT')
      await untilSaid('stderr', stopping)
      child.kill('SIGINT')
      strictEqual((await ended).status, null)
      await sql`select pg_terminate_backend(${pid}, 10000)`.execute(database.watcher)
      await sql`select pg_advisory_unlock(${GATE})`.execute(holder)
    })
    deepStrictEqual(await keysIn(database, 'completed'), ['due'])
  })

  it('outlives a fault, and says so', async () => {
    await insertDue(database, ['due'])
    await database.watcher.connection().execute(async (holder) => {
      await sql`select pg_advisory_lock(${GATE})`.execute(holder)
      const { child, ended, untilSaid } = start('--interval', '0.001')
      const { pid } = await untilWaiting(database.watcher, 'sweeper')
      await sql`select pg_terminate_backend(${pid}, 10000)`.execute(database.watcher)
      await untilSaid('stderr', 'oncely: ')
      const said = untilSaid('stdout', 'cleared 1, purged 0\n')
      await sql`select pg_advisory_unlock(${GATE})`.execute(holder)
      await said
      child.kill('SIGTERM')
      strictEqual((await ended).status, 0)
    })
    deepStrictEqual(await keysIn(database, 'expired'), ['due'])
  })
})
