import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'

import { columnOrderFigures } from './column-order.ts'
import type { Figure } from './figure.ts'
import { replayGrowth, sweepGrowth } from './growth.ts'
import { logFigures } from './log.ts'
import { tableFigures } from './table.ts'

export interface SizeExtent {
  /** First executions for each line about the table. */
  readonly records: number
  readonly replays: number
  readonly swept: number
}

export const fullExtent: SizeExtent = { records: 4_000, replays: 1_000_000, swept: 1_000_000 }
export const quickExtent: SizeExtent = { records: 1_000, replays: 100_000, swept: 100_000 }

/** What the server is started with: nothing else writes or tidies up meanwhile. */
export const serverSettings = {
  autovacuum: 'off',
  checkpoint_timeout: '1h',
  max_wal_size: '8GB',
} as const

/** @param url - of a superuser, on a server with `serverSettings`; schemas of its own are made there. */
export async function run(url: string, extent: SizeExtent): Promise<readonly Figure[]> {
  const pool = new Pool({ connectionString: url, max: 1 })
  const admin = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    await sql`create extension if not exists pg_walinspect`.execute(admin)
    return [
      ...(await logFigures(admin, url, [undefined, 90])),
      ...(await tableFigures(admin, url, extent.records)),
      ...(await replayGrowth(admin, url, extent.replays)),
      ...(await sweepGrowth(admin, url, extent.swept)),
      ...(await columnOrderFigures(admin, url)),
    ]
  } finally {
    await admin.destroy()
  }
}
