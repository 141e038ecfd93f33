import { type Kysely, sql } from 'kysely'

import { type Figure, row } from './figure.ts'
import { fill, freshGround, recordsOf } from './ground.ts'

const FIXED = ['attempt', 'created_at', 'completed_at', 'replay_until', 'expired_at']
const FIXED_FIRST = [
  ...FIXED,
  'fingerprint_version',
  'response_status',
  'response_stored',
  'claimed',
]

/** What it would spare if the columns of fixed width came first, where nothing has to be aligned. */
export async function columnOrderFigures(
  admin: Kysely<unknown>,
  url: string,
): Promise<readonly Figure[]> {
  const count = 20_000
  const ground = await freshGround(admin, url)
  await fill(ground, count)
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${`${ground.schema}.records`}::regclass and attnum > 0 order by attnum
  `.execute(admin)
  const now = rows.map(({ name }) => name)
  const orders = {
    'as they are': now,
    'of fixed width first': [...FIXED_FIRST, ...now.filter((name) => !FIXED_FIRST.includes(name))],
  }
  const figures: Figure[] = []
  for (const [name, columns] of Object.entries(orders)) {
    const scratch = sql.id(ground.schema, `scratch_${columns[0] ?? ''}`)
    const list = sql.join(columns.map((column) => sql.ref(column)))
    await sql`create table ${scratch} as select ${list} from ${recordsOf(ground)}`.execute(admin)
    const measured = await sql<{ row: string; heap: string }>`
      select avg(pg_column_size(t.*))::text as row,
        pg_relation_size(${`${ground.schema}.scratch_${columns[0] ?? ''}`}::regclass)::text as heap
      from ${scratch} t`.execute(admin)
    const [found] = measured.rows
    figures.push(
      ...row('bytes by the order of columns, response 300 B', name, 'bytes', {
        'a row': Number(found?.row),
        'heap a record': Number(found?.heap) / count,
      }),
    )
  }
  return figures
}
