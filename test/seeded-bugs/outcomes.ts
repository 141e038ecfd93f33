import { type Edit, failed, faults, schedules, type SeededBug, testFile } from './bug.ts'

export const guardDropped: Edit = {
  file: 'migrations/0001-records.ts',
  find: `,
          constraint records_outcome_at_commit foreign key (claimed) references \${uncommittable}
            deferrable initially deferred
`,
  replace: `
`,
}

/** Of the transaction that claim, write and response have in common. */
export const outcomes: readonly SeededBug[] = [
  {
    name: 'the response is stored behind the commit, and the deferred foreign key dropped',
    edits: [
      guardDropped,
      {
        file: 'src/call/attempt.ts',
        find: `      return { end: 'commit', outcome, last: { queries, failed } }`,
        replace: `      return { end: 'commit', outcome: { ...outcome, queries } }`,
      },
      {
        file: 'src/with-idempotency.ts',
        find: `  if (fate.known) return fate.outcome
  // Somebody`,
        replace: `  if (fate.known) {
    const { queries, ...outcome } = fate.outcome
    if (!queries) return outcome
    const last = { queries, failed: (error) => error }
    await transact(db, schema, () => Promise.resolve({ end: 'commit', outcome, last }))
    return outcome
  }
  // Somebody`,
      },
    ],
    proof: faults('plain', 'cut'),
    says: "lost: the records are 'claimed'",
  },
  {
    name: 'the claim is released before the refusal is stored',
    edits: [
      {
        file: 'src/call/attempt.ts',
        find: `      return { end: 'commit', outcome, last: { queries, failed } }`,
        replace: `      const end = outcome.kind === 'rejected' ? 'rollback' : 'commit'
      return { end, outcome: { ...outcome, queries }, last: { queries, failed } }`,
      },
      {
        file: 'src/with-idempotency.ts',
        find: `  if (fate.known) return fate.outcome
  // Somebody`,
        replace: `  if (fate.known) {
    const { queries, ...outcome } = fate.outcome
    if (outcome.kind !== 'rejected' || !queries) return outcome
    const { claim: claimAgain } = await import('./records/claim.ts')
    const { boundsOf } = await import('./postgres/settings.ts')
    await transact(db, schema, async (_, own) => {
      const won = await claimAgain(own, claim, boundsOf(operation), 'lock and silence')
      if (!won) return { end: 'rollback', outcome }
      const last = { queries: queries.slice(1), failed: (error) => error }
      return { end: 'commit', outcome, last }
    })
    return outcome
  }
  // Somebody`,
      },
    ],
    proof: schedules('first rejects with nobody'),
    says: 'A was told rejected A1, which was not so at any moment',
  },
  {
    name: 'nothing is rolled back to the savepoint before a refusal is stored',
    edits: [
      {
        file: 'src/call/execute.ts',
        find: `queries: [savepoint.rollback, complete(schema, refused)]`,
        replace: `queries: [complete(schema, refused)]`,
      },
    ],
    proof: schedules('first rejects with nobody'),
    says: 'rows of [A1], records told of []',
  },
  {
    name: 'the deferred foreign key is dropped, and a caller that is joined commits behind a failure',
    edits: [guardDropped],
    proof: testFile('test/joining/waiting.test.ts'),
    says: failed(
      'a claim cannot be committed while its function runs, behind the failure of something else',
    ),
  },
]
