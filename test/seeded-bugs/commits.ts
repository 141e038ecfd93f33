import { failed, faults, type SeededBug, testFile } from './bug.ts'

/** Of COMMIT, of its answer, and of what is made of none. */
export const commits: readonly SeededBug[] = [
  {
    name: 'a COMMIT that is not answered in time is taken for a failure',
    edits: [
      {
        file: 'src/postgres/transact.ts',
        find: `  return fateOf(unit, answer === OVER ? { error: abandon() } : answer, bound, onLost)`,
        replace: `  if (answer === OVER) throw abandon()
  return fateOf(unit, answer, bound, onLost)`,
      },
    ],
    proof: faults('given up', 'stalled'),
    says: 'misreported: the first call was told that it had failed',
  },
  {
    name: 'a call whose COMMIT was lost is run again',
    edits: [
      {
        file: 'src/with-idempotency.ts',
        find: `  // Somebody else may have the key by the time a lost commit is looked up.`,
        replace: `  return run(db, { ...wanted, claim: { ...claim, attempt: randomUUID() } }, noted, onLost)
  // Somebody else may have the key by the time a lost commit is looked up.`,
      },
    ],
    proof: faults('plain', 'cut'),
    says: 'is there, and was told replayed',
  },
  {
    name: 'a refusal whose COMMIT was looked up is told as an error',
    edits: [
      {
        file: 'src/call/recover.ts',
        find: `      return { ...outcome, recovered: true }`,
        replace: `      if (outcome.kind === 'rejected') throw cause
      return { ...outcome, recovered: true }`,
      },
    ],
    proof: faults('rejection', 'cut'),
    says: 'is there, and was told an error',
  },
  {
    name: '`synchronous_commit` off leaks into an execution',
    edits: [
      {
        file: 'src/postgres/settings.ts',
        find: `    when set_config('lock_timeout', \${value('lockTimeout')}, true) is null then null
`,
        replace: `    when set_config('synchronous_commit', 'off', true) is null then null
    when set_config('lock_timeout', \${value('lockTimeout')}, true) is null then null
`,
      },
    ],
    proof: faults('first execution', 'crash', 'oncelyDialect'),
    says: 'lost: 0 effects are there, and not 1',
  },
  {
    name: 'the fate of a commit is concluded from the id of the transaction alone',
    edits: [
      {
        file: 'src/postgres/commit-fate.ts',
        find: `  return look(own)`,
        replace: `  return status === 'committed' ? 'ours' : 'absent'`,
      },
    ],
    proof: testFile('test/with-idempotency/server-lost.test.ts'),
    says: failed('C6: and its id is that of a transaction that has committed: not taken for ours'),
  },
  {
    name: 'an answer to COMMIT of severity FATAL is taken for definite',
    edits: [
      {
        file: 'src/postgres/sqlstate.ts',
        find: `  return found?.severity === 'ERROR' && !/^(08|57P0)/.test(found.code)`,
        replace: `  if (found?.severity === 'FATAL') return true
  return found?.severity === 'ERROR' && !/^(08|57P0)/.test(found.code)`,
      },
      {
        file: 'src/postgres/sqlstate.ts',
        find: `  return found?.severity === 'ERROR' && /^(23|40|P0)/.test(found.code)`,
        replace: `  if (found?.severity === 'FATAL') return true
  return found?.severity === 'ERROR' && /^(23|40|P0)/.test(found.code)`,
      },
    ],
    proof: testFile('test/with-idempotency/lost-commit.test.ts'),
    says: failed('C6: to a pooler, which says FATAL 08P01 and goes on: executed, recovered'),
  },
  {
    name: 'the silence of a client is not bound while its transaction is open',
    edits: [
      {
        file: 'src/postgres/settings.ts',
        find: `    \${silence}
`,
        replace: '',
      },
    ],
    proof: testFile('test/options-effects.test.ts'),
    says: failed('bounds the silence in the transaction to 59999ms'),
  },
]
