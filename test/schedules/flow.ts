import { randomBytes } from 'node:crypto'

import type { Kysely } from 'kysely'
import { Client } from 'pg'

import { type TestRun, templateOf, urlOf } from '../support/test-run.ts'
import { type HostName, hosts } from './hosts.ts'
import { hostOn, type RunsDatabase, type Seat, takeSeat } from './seat.ts'
import { Moves } from './moves.ts'
import { Watcher } from './watcher.ts'

/** A database in which one schedule runs at a time, and everybody who takes part. */
export interface Flow {
  readonly moves: Moves
  readonly first: Seat
  readonly second: Seat
  readonly janitor: Seat
  readonly watcher: Watcher
  /** For those who ask behind a schedule, whose statements nobody holds. */
  readonly asker: Kysely<RunsDatabase>
  close(): Promise<void>
}

/** Its database is dropped with the others of the run. */
export async function openFlow({ env }: TestRun, host: HostName): Promise<Flow> {
  const { ONCELY_TEST_SERVER: server, ONCELY_TEST_RUN: run } = env
  const name = `${run}_${randomBytes(4).toString('hex')}`
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(`create database ${name} template ${templateOf(run)}`)
  } finally {
    await client.end()
  }
  const url = urlOf(server, name)
  const moves = new Moves()
  const watcher = await Watcher.open(url)
  const first = await takeSeat(url, 'A', moves, host)
  const second = await takeSeat(url, 'B', moves, host)
  const janitor = await takeSeat(url, 'janitor', moves, host)
  const asker = hostOn(url, 'asker', hosts[host].sharesTurns).db
  return {
    moves,
    first,
    second,
    janitor,
    watcher,
    asker,
    async close() {
      await Promise.all([first, second, janitor, watcher].map((one) => one.close()))
      await asker.destroy()
    },
  }
}
