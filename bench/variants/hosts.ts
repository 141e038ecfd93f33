import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'

import { oncelyDialect } from '../../src/pg.ts'
import type { Tables } from '../business.ts'
import type { Variant } from '../intent.ts'
import { bare, bareWithoutEvent } from './bare.ts'
import { byHand } from './by-hand.ts'
import { naive } from './naive.ts'
import { oncely } from './oncely.ts'
import { threeCommits } from './three-commits.ts'

/** The variants on one database. Three pools of as many connections, of which one at a time works. */
export interface Host {
  /** A Kysely as most services have it. */
  readonly plain: Kysely<Tables>
  readonly variants: Readonly<Record<string, Variant>>
  close(): Promise<void>
}

export function openHost(url: string, max: number): Host {
  const shared = { connectionString: url, max, idleTimeoutMillis: 0 }
  // The one by hand has the pipelining client that it is made for. Ours needs none, and the others wait
  // for each answer before they send the next statement.
  const pool = new Pool(shared)
  const ours = new Kysely<Tables>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
  const raw = new Pool({ ...shared, pipeline: true })
  const plain = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new Pool(shared) }) })
  return {
    plain,
    variants: {
      oncely: oncely(ours),
      'oncely, readFirst': oncely(ours, 'readFirst'),
      'oncely, share lock': oncely(ours, 'share'),
      bare: bare(plain),
      'bare without event': bareWithoutEvent(plain),
      naive: naive(plain, 'bench_keys'),
      'three commits': threeCommits(plain, 'bench_keys'),
      'naive, lean table': naive(plain, 'bench_lean_keys'),
      'three commits, lean table': threeCommits(plain, 'bench_lean_keys'),
      'by hand': byHand(raw),
    },
    async close() {
      await Promise.all([ours.destroy(), plain.destroy(), raw.end()])
    },
  }
}
