import { type Edit, failed, faults, schedules, type SeededBug, testFile } from './bug.ts'

const triggerDropped: Edit = {
  file: 'migrations/0001-records.ts',
  find: `      await sql\`
        create constraint trigger records_outcome_at_commit after insert or update on \${table}
        deferrable initially deferred for each row when (new.state = 'claimed')
        execute function \${refuseUnfinished}()\`.execute(db)
`,
  replace: '',
}

/** Of the transaction that claim, write and response have in common. */
export const outcomes: readonly SeededBug[] = [
  {
    name: 'the response is stored behind the commit, and the deferred trigger dropped',
    edits: [
      triggerDropped,
      {
        file: 'src/call/execute.ts',
        find: `  await store(own, { ...identity, state: 'completed', response, responseStored, events, resource })
  return { ok: true, kind: 'executed', value }`,
        replace: `  const stored = { ...identity, state: 'completed', response, responseStored, events, resource }
  return { ok: true, kind: 'executed', value, stored }`,
      },
      {
        file: 'src/with-idempotency.ts',
        find: `  if (fate.known) return fate.outcome
  // Somebody`,
        replace: `  if (fate.known) {
    const { stored, ...outcome } = fate.outcome
    if (!stored) return outcome
    const { complete } = await import('./records/complete.ts')
    await transact(db, async (trx) => {
      await complete(enter(trx, schema), stored)
      return { end: 'commit', outcome }
    })
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
        file: 'src/call/execute.ts',
        find: `    await undo(own, savepoint)
    await store(own, { ...identity, state: 'rejected', response: bytes, events: [] })
    return { ok: false, kind: 'rejected', refusal, replayed: false }`,
        replace: `    const stored = { ...identity, state: 'rejected', response: bytes, events: [] }
    return { ok: false, kind: 'rejected', refusal, replayed: false, stored }`,
      },
      {
        file: 'src/call/attempt.ts',
        find: `      return { end: 'commit', outcome: await execute(trx, own, claim, operation, fn, bound) }`,
        replace: `      const outcome = await execute(trx, own, claim, operation, fn, bound)
      return { end: outcome.stored ? 'rollback' : 'commit', outcome }`,
      },
      {
        file: 'src/with-idempotency.ts',
        find: `  if (fate.known) return fate.outcome
  // Somebody`,
        replace: `  if (fate.known) {
    const { stored, ...outcome } = fate.outcome
    if (!stored) return outcome
    const { complete } = await import('./records/complete.ts')
    const { claim: claimAgain } = await import('./records/claim.ts')
    await transact(db, async (trx) => {
      const own = enter(trx, schema)
      await boundWaits(own, operation)
      if (await claimAgain(own, claim)) await complete(own, stored)
      return { end: 'commit', outcome }
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
    edits: [{ file: 'src/call/execute.ts', find: `    await undo(own, savepoint)\n`, replace: '' }],
    proof: schedules('first rejects with nobody'),
    says: 'rows of [A1], records told of []',
  },
  {
    name: 'the deferred trigger is dropped, and a caller that is joined commits behind a failure',
    edits: [triggerDropped],
    proof: testFile('test/joining/waiting.test.ts'),
    says: failed(
      'a claim cannot be committed while its function runs, behind the failure of something else',
    ),
  },
]
