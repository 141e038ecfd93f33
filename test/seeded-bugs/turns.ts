import { failed, type SeededBug, testFile } from './bug.ts'
import { guardDropped } from './outcomes.ts'

/** Of statements that are sent before the one in front is answered. */
export const turns: readonly SeededBug[] = [
  {
    name: 'the deferred foreign key is dropped, and a BEGIN that is not waited for fails',
    edits: [guardDropped],
    proof: testFile('test/pg/begin-not-waited-for.test.ts'),
    says: failed('of a call: nothing behind it is committed, and the key is free'),
  },
  {
    name: 'a BEGIN is not waited for in front of what the host sends',
    edits: [
      {
        file: 'src/postgres/transact.ts',
        find: `    if (beginsByClaim) held.control?.beginAhead()`,
        replace: `    held.control?.beginAhead()`,
      },
    ],
    proof: testFile('test/pg/begin-not-waited-for.test.ts'),
    says: failed('is waited for, so that a resolver writes nothing'),
  },
  {
    name: 'a store that hits no row does not fail, and COMMIT travels behind it',
    edits: [
      {
        file: 'src/records/complete.ts',
        find: '`1 / count(*)`',
        replace: '`count(*)`',
      },
    ],
    proof: testFile('test/pg/store-not-waited-for.test.ts'),
    says: failed('since the function began another transaction and returns a value'),
  },
]
