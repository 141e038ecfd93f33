import { schedules, type SeededBug } from './bug.ts'

/** Of how a key is won, and of what whoever has not won it is told. */
export const claims: readonly SeededBug[] = [
  {
    name: 'the record is read in the same statement as the insert',
    edits: [
      {
        file: 'src/records/claim.ts',
        find: `  return new Statement((tables, value: ValueOf<Values>) =>
    tables
      .insertInto('records')`,
        replace: `  return new Statement((tables, value: ValueOf<Values>) => {
    const insert = tables
      .insertInto('records')`,
      },
      {
        file: 'src/records/claim.ts',
        find: `      .returning(won.as('won'))
      .compile(),
  )`,
        replace: `      .returning(won.as('won'))
    return tables
      .with('claimed', () => insert)
      .with('found', () => selectRecord(tables, value))
      .selectFrom(sql\`(select 1)\`.as('one'))
      .leftJoin('claimed', (join) => join.onTrue())
      .leftJoin('found', (join) => join.onTrue())
      .selectAll(['claimed', 'found'])
      .compile()
  })`,
      },
      {
        file: 'src/records/claim.ts',
        find: `    if (!row) return undefined
    const { xid, startedAt, pid } = wonBy(row.won)
    own.answeredBy(pid)
    return { xid, startedAt }`,
        replace: `    if (row.won !== null) return { transaction: wonBy(row.won) }
    return { record: row.described === null ? undefined : recordOf(row) }`,
      },
      {
        file: 'src/records/claim.ts',
        find: `import { identityColumns,`,
        replace: `import { recordOf, selectRecord } from './read.ts'
import { identityColumns,`,
      },
      {
        file: 'src/records/read.ts',
        find: `function selectRecord(tables:`,
        replace: `export function selectRecord(tables:`,
      },
      {
        file: 'src/records/read.ts',
        find: `function recordOf({`,
        replace: `export function recordOf({`,
      },
      {
        file: 'src/records/obtain.ts',
        find: `  const claiming = () => claim(own, wanted, bounds, waits)
`,
        replace: `  const claiming = () => claim(own, wanted, bounds, waits)
  const { transaction: won, record: seen } = await claiming()
  if (won) await behindClaim?.()
  if (won) return { by: 'claim', transaction: won }
  return seen ? { by: 'record', record: seen } : { by: 'other' }
`,
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
        find: `first = 'claim' }`,
        replace: `first = 'read' }`,
      },
      {
        file: 'src/records/obtain.ts',
        find: `      if (found) return found`,
        replace: `      if (found) return { ...found, waited: true }`,
      },
      {
        file: 'src/call/attempt.ts',
        find: `replayIn(trx, own, record, claim, operation, bound)`,
        replace: `replayIn(trx, own, record, { ...claim, ...(obtained.waited && { fingerprints: false }) }, operation, bound)`,
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
