import type { Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import { enter, type OwnTables } from '../postgres/enter.ts'
import { levelOf } from '../postgres/level.ts'
import { SQLSTATE, sqlState, violates } from '../postgres/sqlstate.ts'
import { type Ending, runLast } from '../postgres/ending.ts'
import { isOwnUncommitted } from '../records/own-uncommitted.ts'
import { attempt, type Outcome } from './attempt.ts'
import { resolveDuplicate } from './duplicate.ts'
import type { Run } from './execute.ts'
import type { Observed } from './observe.ts'
import { Savepoint } from './savepoint.ts'
import type { Duplicate } from '../result.ts'

/**
 * One run of the protocol inside the caller's transaction, under a savepoint, so that whatever fails
 * leaves it usable; what does not claim is undone, settings and row locks with it.
 *
 * @throws OncelyError `transaction_aborted` when the caller's transaction had failed before;
 * `isolation_unsupported`; `key_reused`; `transaction_busy`.
 */
export async function join<DB>(
  tx: Transaction<DB>,
  run: Run<DB>,
  observed: Observed,
): Promise<Outcome | Duplicate<unknown>> {
  run.bound.check()
  const level = await levelOf(tx)
  if (joining.has(level)) throw busy()
  joining.add(level)
  try {
    return await underSavepoint(tx, run, observed)
  } finally {
    joining.delete(level)
  }
}

/** Savepoints nest: of two calls at once, one that fails would undo what the other has applied. */
const joining = new WeakSet()

async function underSavepoint<DB>(
  tx: Transaction<DB>,
  run: Run<DB>,
  observed: Observed,
): Promise<Outcome | Duplicate<unknown>> {
  const { claim, operation, bound } = run
  const own = enter(tx, operation.schema)
  const savepoint = await setSavepoint(own)
  let ending: Ending<Outcome>
  try {
    ending = await attempt(tx, own, run, observed, 'lock')
    if (isOfRecord(ending) && (await isOwnUncommitted(own, claim))) throw keyReused()
    bound.check()
    await runLast(own, ending)
  } catch (error) {
    // On a connection that is lost it fails too, and would take the place of the first error.
    await savepoint.undo().catch(() => undefined)
    const { businessIdentity: business } = operation
    if (!business || !observed.transaction || !violates(error, business)) throw error
    const duplicate = await undone(own, () => resolveDuplicate(error, tx, claim, business, bound))
    if (!duplicate) throw error
    return duplicate
  }
  if (ending.end === 'rollback') await savepoint.undo()
  else await savepoint.release()
  return ending.outcome
}

/** Runs what reads, and undoes what it has written all the same. */
async function undone<Value>(own: OwnTables, run: () => Promise<Value>): Promise<Value> {
  const savepoint = await setSavepoint(own)
  try {
    return await run()
  } finally {
    await savepoint.undo().catch(() => undefined)
  }
}

/** Whether somebody's record has decided, and not a wait, a quota, or nobody. */
function isOfRecord({ end, outcome }: Ending<Outcome>): boolean {
  return end === 'rollback' && outcome.kind !== 'in_progress' && outcome.kind !== 'quota_exceeded'
}

async function setSavepoint(own: OwnTables): Promise<Savepoint> {
  const savepoint = new Savepoint(own)
  try {
    await savepoint.set()
  } catch (cause) {
    if (sqlState(cause) !== SQLSTATE.inFailedTransaction) throw cause
    throw new OncelyError('transaction_aborted', 'the transaction to be joined has failed before', {
      cause,
    })
  }
  return savepoint
}

function busy(): OncelyError {
  return new OncelyError(
    'transaction_busy',
    'another call has joined the transaction and has not ended: await one before the next',
  )
}

function keyReused(): OncelyError {
  return new OncelyError('key_reused', 'the key was used before in the same transaction')
}
