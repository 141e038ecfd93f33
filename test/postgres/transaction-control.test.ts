import { strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { transactionControl } from '../../src/postgres/transaction-control.ts'

const comments = '/* a */ '.repeat(1_000)

const statements: Record<string, readonly string[]> = {
  ends: [
    'commit',
    'COMMIT WORK',
    'end;',
    'abort',
    'rollback',
    'Rollback Transaction And Chain',
    'rollback; -- to',
    "prepare transaction 'x'",
    '; ;rollback',
    '-- a\n commit',
    '-- a\rrollback',
    '/* a */commit',
    '/* /* a */ b */ commit',
    `${comments}rollback`,
  ],
  'rolls back to a savepoint': [
    'rollback to m',
    'ROLLBACK TO SAVEPOINT m',
    'rollback work to m',
    'rollback /* x */ transaction -- y\n to savepoint m',
    `${comments}rollback to m`,
  ],
  'sets a savepoint': ['savepoint m', '/* a */ SAVEPOINT m'],
  none: [
    '',
    'select 1',
    'release m',
    "select 'commit'",
    '/* commit */ select 1',
    '-- commit',
    '/* commit',
    '/* /* a */ commit',
    '/* a */ select case when true then 1 else 2 /* b */ end',
    'commits',
    'end_of_day()',
    'prepare p as select 1',
    `${comments}select 1`,
    'with x as (select 1) select 1',
  ],
}

describe('what a statement does to its transaction', () => {
  for (const [control, list] of Object.entries(statements)) {
    for (const statement of list) {
      it(`${control}: ${JSON.stringify(statement.slice(-40))}`, () => {
        strictEqual(transactionControl(statement), control)
      })
    }
  }
})
