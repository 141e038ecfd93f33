import { type CompiledQuery, sql } from 'kysely'

import type { OutboxEvent } from '../outbox/event.ts'
import { columnsOf, type EventColumns, insertEvent, insertEvents } from '../outbox/insert.ts'
import { SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import { Statement, type TableBuilder, type ValueOf } from '../postgres/statement.ts'
import type { HttpHead } from '../response/codec.ts'
import type { Resource } from '../result.ts'
import type { RecordIdentity } from './identity.ts'

/** The outcome of the attempt that holds the claim. */
export interface Completion extends RecordIdentity {
  readonly attempt: string
  readonly state: 'completed' | 'rejected'
  readonly response: Buffer
  /** False when a replay makes its answer anew. */
  readonly responseStored?: boolean
  /** Of an HTTP response. */
  readonly head?: HttpHead | undefined
  readonly resource?: Resource | undefined
  /** In the order they are to be published. */
  readonly events: readonly OutboxEvent[]
}

/**
 * Writes the response, and the events behind it in the same statement: where the claim is gone,
 * because the business function ended the transaction itself, no event is written either.
 *
 * The statement fails where the claim is gone, see `isClaimGone`: whatever was sent behind it, such as
 * COMMIT, then finds the transaction aborted.
 */
export function complete(schema: string, completion: Completion): CompiledQuery {
  const { events, resource, head } = completion
  const values = {
    tenant: completion.tenant,
    actor: completion.actor,
    operation: completion.operation,
    key: completion.key,
    attempt: completion.attempt,
    state: completion.state,
    response: completion.response,
    responseStored: completion.responseStored ?? true,
    resourceType: resource?.type ?? null,
    resourceId: resource?.id ?? null,
  }
  if (!head) return storing(schema, values, events)
  const { status: httpStatus } = head
  const withHead = { ...values, httpStatus, httpHeaders: JSON.stringify(head.headers) }
  return storingHttp(schema, withHead, events)
}

/** Whether `complete` failed because the claim is gone. Nothing else of ours in it divides. */
export function isClaimGone(error: unknown): boolean {
  return sqlState(error) === SQLSTATE.divisionByZero
}

interface Values extends RecordIdentity {
  readonly attempt: string
  readonly state: string
  readonly response: Buffer
  readonly responseStored: boolean
  readonly resourceType: string | null
  readonly resourceId: string | null
}

/** Of an HTTP response alone: each value that is sent has its price. */
interface Head {
  readonly httpStatus: number
  readonly httpHeaders: string
}

/** Fails unless the one record was there: it divides by how many there were. */
const oneStored = sql<number>`1 / count(*)`.as('one')

const storing = storingBy<Values>((tables, value) => store(tables, value))
const storingHttp = storingBy<Values & Head>((tables, value) =>
  store(tables, value, {
    response_status: sql<number>`${value('httpStatus')}::smallint`,
    response_headers: sql<string>`${value('httpHeaders')}::json`,
  }),
)

/** With no event, with one, and with several. */
function storingBy<Of extends Values>(
  stored: (tables: Storing, value: ValueOf<Of>) => ReturnType<typeof store>,
) {
  const alone = new Statement((tables, value: ValueOf<Of>) =>
    tables
      .with('stored', (own) => stored(own, value))
      .selectFrom('stored')
      .select(oneStored)
      .compile(),
  )
  const withEvent = new Statement((tables, value: ValueOf<Of & OutboxEvent>) =>
    tables
      .with('stored', (own) => stored(own, value))
      .with('emitted', (own) => insertEvent(own, value))
      .selectFrom('stored')
      .select(oneStored)
      .compile(),
  )
  const withEvents = new Statement((tables, value: ValueOf<Of & EventColumns>) =>
    tables
      .with('stored', (own) => stored(own, value))
      .with('emitted', (own) => insertEvents(own, value))
      .selectFrom('stored')
      .select(oneStored)
      .compile(),
  )
  return (schema: string, values: Of, events: readonly OutboxEvent[]): CompiledQuery => {
    const [first, ...more] = events
    if (!first) return alone.with(schema, values)
    if (more.length === 0) return withEvent.with(schema, { ...values, ...first })
    return withEvents.with(schema, { ...values, ...columnsOf(events) })
  }
}

type Storing = Pick<TableBuilder, 'updateTable'>

function store(tables: Storing, value: ValueOf<Values>, head = {}) {
  return tables
    .updateTable('records')
    .set({
      state: value('state'),
      // From here on it may be committed.
      claimed: sql.lit(null),
      response: value('response'),
      response_stored: value('responseStored'),
      // Cast as in the claim: the columns are of a domain.
      resource_type: sql<string | null>`${value('resourceType')}::text`,
      resource_id: sql<string | null>`${value('resourceId')}::text`,
      completed_at: sql`clock_timestamp()`,
      ...head,
    })
    .where('tenant', '=', value('tenant'))
    .where('actor', '=', value('actor'))
    .where('operation', '=', value('operation'))
    .where('key', '=', value('key'))
    .where('attempt', '=', value('attempt'))
    .where('state', '=', sql.lit('claimed'))
    .returning('tenant')
}
