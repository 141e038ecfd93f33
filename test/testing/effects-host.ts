import { beforeEach } from 'node:test'

import { guardPool } from 'oncely/pg'
import { type CheckOptions, checkUnderFaults, type Subject } from 'oncely/testing'
import { Pool, type PoolClient } from 'pg'

import type { TestDatabase } from '../support/database.ts'

export interface Answer {
  readonly kind: 'executed' | 'replayed' | 'rejected' | 'unknown' | 'in_progress'
  readonly refusal?: string
  readonly replayed?: boolean
  readonly value?: string
}

export type Call = (client: PoolClient, key: string) => Promise<Answer>

/** So that a proof takes a second, and one that finds nothing does not go on for ever. */
export const quick: CheckOptions<Answer> = {
  kinds: ['cut'],
  patienceMs: 2_000,
  pauseMs: 1,
  attempts: 10,
}

export const insert = 'insert into effects values ($1, $2)'

/** Keeps the promise by hand: claim, write and answer in one statement. */
export async function once(client: PoolClient, key: string): Promise<Answer> {
  const { rowCount } = await client.query(
    `with claimed as (insert into answers values ($1, 'done') on conflict do nothing returning key)
     insert into effects select key, 'done' from claimed`,
    [key],
  )
  return { kind: rowCount === 1 ? 'executed' : 'replayed', value: 'done' }
}

/** Whatever comes of the connection is not told as an error, but as what is not known. */
export const honest: Call = (client, key) =>
  once(client, key).catch((): Answer => ({ kind: 'unknown' }))

/** Handlers on tables of their own, by hand. To be called once, behind `testDatabase`. */
export function effectsHost(database: TestDatabase) {
  const direct = database.pool()
  let created: Promise<unknown> | undefined
  beforeEach(async () => {
    created ??= direct.query(
      'create table effects (key text, told text); create table answers (key text primary key, told text)',
    )
    await created
  })

  function subject(call: Call, more: Partial<Subject<Answer>> = {}): Subject<Answer> {
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

  async function wrongs(call: Call) {
    const { problems } = await checkUnderFaults(subject(call), quick)
    return new Set(problems.map(({ wrong }) => wrong))
  }
  return { subject, wrongs }
}
