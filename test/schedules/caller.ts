import type { Kysely, Transaction } from 'kysely'
import {
  type CallContext,
  createIdempotency,
  type IdempotencyOptions,
  type JoinedResult,
  type Result,
} from 'oncely'

import type { CallerRole } from './scenario.ts'
import type { RunsDatabase } from './seat.ts'
import { fingerprints } from './fingerprints.ts'

export const scope = { tenant: 't1', actor: 'u1', operation: 'runs.make' }

/** What a caller was told, with the run that it was told of. */
export interface Told {
  readonly kind: string
  readonly run?: string
  /** Of a refusal. */
  readonly replayed?: boolean
  /** What was thrown, when `failed`. */
  readonly error?: unknown
}

/** So that nothing times out by itself: only what the schedule does may decide. */
const PATIENCE_MS = 600_000

/** What the business function of a caller throws. */
class OwnError extends Error {}

/** Thrown by a host to roll back. */
class HostError extends Error {}

/** One caller in one schedule. */
export class Caller {
  readonly name: string
  readonly role: CallerRole
  readonly #db: Kysely<RunsDatabase>
  readonly #options: IdempotencyOptions
  /** How often its business function was called. */
  runs = 0

  constructor(
    name: string,
    role: CallerRole,
    db: Kysely<RunsDatabase>,
    options: IdempotencyOptions = {},
  ) {
    this.name = name
    this.role = role
    this.#db = db
    this.#options = {
      lockTimeoutMs: role.waits ? PATIENCE_MS : 1,
      resolveTimeoutMs: PATIENCE_MS,
      idleInTransactionTimeoutMs: PATIENCE_MS,
      ...options,
      ...role.options,
    }
  }

  /** Never throws: what was thrown is what it was told. */
  async call(key: string): Promise<Told> {
    try {
      return this.role.joins ? await this.#join(key) : toldBy(await this.#ask(key))
    } catch (error) {
      if (error instanceof HostError) return { kind: 'undone' }
      return { kind: error instanceof OwnError ? 'threw' : 'failed', error }
    }
  }

  #ask(key: string) {
    const idempotency = createIdempotency(this.#db, this.#options)
    return idempotency.withIdempotency(scope, key, fingerprints[this.role.fingerprint], this.#run)
  }

  async #join(key: string): Promise<Told> {
    const idempotency = createIdempotency(this.#db, this.#options)
    return this.#db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      const fingerprint = fingerprints[this.role.fingerprint]
      const told = toldBy(await joined.withIdempotency(scope, key, fingerprint, this.#run))
      if (this.role.joins === 'rolls back') throw new HostError()
      return told
    })
  }

  readonly #run = async (tx: Transaction<RunsDatabase>, context: CallContext) => {
    this.runs += 1
    const run = `${this.name}${this.runs}`
    await tx.insertInto('runs').values({ key: context.key, run }).execute()
    context.emit({
      type: 'run.made',
      aggregateType: 'run',
      aggregateId: context.key,
      payload: { run },
    })
    if (this.role.does === 'throws') throw new OwnError(run)
    return this.role.does === 'rejects' ? context.reject({ run }) : { run }
  }
}

/** What a run of the business function answers, or refuses with. */
interface Run {
  readonly run: string
}

function toldBy(result: Result<Run, Run> | JoinedResult<Run, Run>): Told {
  switch (result.kind) {
    case 'executed':
    case 'applied':
    case 'replayed':
      return { kind: result.kind, run: result.value.run }
    case 'rejected':
      return { kind: result.kind, run: result.refusal.run, replayed: result.replayed }
    default:
      return { kind: result.kind }
  }
}
