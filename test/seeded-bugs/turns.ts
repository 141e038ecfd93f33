import { type Edit, failed, type SeededBug, testFile } from './bug.ts'
import { guardDropped } from './outcomes.ts'

/** BEGIN travels by itself, so that what is sent behind it is not skipped where it fails. */
const beginAlone: Edit = {
  file: 'src/postgres/hold.ts',
  find: `    if (this.#aheadOfBegin) this.gather()
`,
  replace: '',
}

/** Of statements that are sent before the one in front is answered. */
export const turns: readonly SeededBug[] = [
  {
    name: 'the deferred foreign key is dropped, and a BEGIN fails that a claim follows by itself',
    edits: [guardDropped, beginAlone],
    proof: testFile('test/pg/begin-not-waited-for.test.ts'),
    says: failed('of a call with a quota: nothing behind it is committed, and the key is free'),
  },
  {
    name: 'a BEGIN is not waited for in front of what the host sends',
    edits: [
      beginAlone,
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
