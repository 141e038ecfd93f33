import { schedules, type SeededBug } from './bug.ts'

/** Of records that are past their window. */
export const clearing: readonly SeededBug[] = [
  {
    name: 'the sweeper deletes records and does not clear them',
    edits: [
      {
        file: 'src/records/sweep.ts',
        find: `      .updateTable('records')
      .from('due')
      .set(tombstone)`,
        replace: `      .deleteFrom('records')
      .using('due')`,
      },
    ],
    proof: schedules('same fingerprint with sweeper, due'),
    says: 'made nothing of a record (completed, due',
  },
  {
    name: 'a record expires when it is swept, and not by the clock',
    edits: [
      {
        file: 'src/records/read.ts',
        find: `state = 'expired' or replay_until <= clock_timestamp()`,
        replace: `state = 'expired'`,
      },
    ],
    proof: schedules('same fingerprint with sweeper, due'),
    says: 'was told replayed before, which was not so at any moment',
  },
  {
    name: 'a purge deletes tombstones that are within their window',
    edits: [
      {
        file: 'src/records/purge.ts',
        find: "sql<Date>`statement_timestamp() - ${tombstoneWindowMs}::float8 * interval '1 millisecond'`",
        replace: 'sql<Date>`statement_timestamp()`',
      },
    ],
    proof: schedules('same fingerprint with purge, young'),
    says: 'made nothing of a record (expired, due',
  },
]
