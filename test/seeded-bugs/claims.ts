import { schedules, type SeededBug } from './bug.ts'

/** Of how a key is won, and of what whoever has not won it is told. */
export const claims: readonly SeededBug[] = [
  {
    name: 'the record is read in the same statement as the insert',
    edits: [
      {
        file: 'src/records/claim.ts',
        find: `  const { rows } = await own.run(
    own.tables
      .insertInto('records')`,
        replace: `  const insert = own.tables
      .insertInto('records')`,
      },
      {
        file: 'src/records/claim.ts',
        find: `      ]),
  )
  return rows[0] && { xid: rows[0].xid, startedAt: rows[0].startedAt }`,
        replace: `      ])
  const { rows } = await own.run(
    own.tables
      .with('claimed', () => insert)
      .with('found', () => selectRecord(own, wanted))
      .selectFrom(sql\`(select 1)\`.as('one'))
      .leftJoin('claimed', (join) => join.onTrue())
      .leftJoin('found', (join) => join.onTrue())
      .selectAll(['claimed', 'found']),
  )
  const [{ xid, startedAt, ...found }] = rows
  return {
    transaction: xid === null ? undefined : { xid, startedAt },
    record: found.state === null ? undefined : recordOf(found),
  }`,
      },
      {
        file: 'src/records/claim.ts',
        find: `import { identityColumns,`,
        replace: `import { recordOf, selectRecord } from './read.ts'
import { identityColumns,`,
      },
      {
        file: 'src/records/read.ts',
        find: `function selectRecord(own: OwnTables,`,
        replace: `export function selectRecord(own: OwnTables,`,
      },
      {
        file: 'src/records/read.ts',
        find: `  const row = rows[0]
  if (!row) return undefined
`,
        replace: `  return rows[0] && recordOf(rows[0])
}

export function recordOf(row) {
`,
      },
      {
        file: 'src/records/obtain.ts',
        find: `    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const transaction = await claim(own, wanted)
      if (transaction) return { by: 'claim', transaction }
      const record = await readRecord(own, wanted, lock)
      if (record) return { by: 'record', record }
    }`,
        replace: `    const { transaction, record } = await claim(own, wanted)
    if (transaction) return { by: 'claim', transaction }
    if (record) return { by: 'record', record }`,
      },
    ],
    proof: schedules('same fingerprint with nobody'),
    says: 'was told in_progress, which was not so at any moment',
  },
  {
    name: 'the fingerprint is not compared once the claim was waited for',
    edits: [
      {
        file: 'src/records/obtain.ts',
        find: `first: 'claim' | 'read' = 'claim'`,
        replace: `first: 'claim' | 'read' = 'read'`,
      },
      {
        file: 'src/records/obtain.ts',
        find: `      const record = await readRecord(own, wanted, lock)
      if (record) return { by: 'record', record }
    }
    return`,
        replace: `      const record = await readRecord(own, wanted, lock)
      if (record) return { by: 'record', record, waited: true }
    }
    return`,
      },
      {
        file: 'src/call/attempt.ts',
        find: `replay(trx, record, claim, claim.fingerprints, operation, bound)`,
        replace: `replay(trx, record, claim, !obtained.waited && claim.fingerprints, operation, bound)`,
      },
      {
        file: 'src/call/replay.ts',
        find: `if (!matches(record.fingerprint, accepted))`,
        replace: `if (accepted && !matches(record.fingerprint, accepted))`,
      },
    ],
    proof: schedules('other fingerprint with nobody'),
    says: 'was told replayed A1, which was not so at any moment',
  },
  {
    name: 'a key that vanishes behind a lost claim is not claimed again',
    edits: [
      {
        file: 'src/records/obtain.ts',
        find: `const MAX_ROUNDS = 10`,
        replace: `const MAX_ROUNDS = 1`,
      },
    ],
    proof: schedules('same fingerprint with purge, old'),
    says: 'was told in_progress, which was not so at any moment',
  },
]
