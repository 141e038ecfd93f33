import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import type { ResolvedSink } from './options.ts'
import type { Place } from './received-event.ts'

/** What its sequence says of an event. */
export type Advance =
  | { readonly is: 'next'; readonly missing: number }
  | { readonly is: 'stale'; readonly last: string }
  | { readonly is: 'gap'; readonly expected: string }

type Given = readonly [own: OwnTables, consumer: string, place: Place]

/**
 * Moves a consumer on to the sequence of an event, where it may be applied. Waits for another event of its
 * aggregate that is under way.
 */
export async function advance(
  own: OwnTables,
  { consumer, gaps, firstSequence }: ResolvedSink,
  place: Place,
): Promise<Advance> {
  const { sequence } = place
  const given: Given = [own, consumer, place]
  // Nearly always it is the next one, and that takes one statement.
  if (await moveOn(given, sequence - 1n)) return { is: 'next', missing: 0 }
  for (;;) {
    const last = await lockedLast(given)
    const expected = last === undefined ? (firstSequence ?? sequence) : last + 1n
    if (sequence < expected) return { is: 'stale', last: `${expected - 1n}` }
    if (sequence > expected && gaps !== 'apply') return { is: 'gap', expected: `${expected}` }
    // Another event of a new aggregate may have come first.
    const moved = last === undefined ? await begin(given) : await moveOn(given, last)
    if (moved) return { is: 'next', missing: Number(sequence - expected) }
  }
}

async function moveOn([own, consumer, place]: Given, from: bigint): Promise<boolean> {
  if (from < 0n) return false
  const { numAffectedRows } = await own.run(
    own.tables
      .updateTable('sink_sequences')
      .set({ sequence: place.sequence })
      .where(sameAggregate(consumer, place))
      .where('sequence', '=', sql<string>`${from}::bigint`),
  )
  return numAffectedRows === 1n
}

async function lockedLast([own, consumer, place]: Given): Promise<bigint | undefined> {
  const {
    rows: [row],
  } = await own.run(
    own.tables
      .selectFrom('sink_sequences')
      .select(sql<string>`sequence::text`.as('last'))
      .where(sameAggregate(consumer, place))
      .forUpdate(),
  )
  return row && BigInt(row.last)
}

/** @returns false where somebody else has begun it. */
async function begin([own, consumer, place]: Given): Promise<boolean> {
  const { numAffectedRows } = await own.run(
    own.tables
      .insertInto('sink_sequences')
      .values({
        // Cast, as a parameter would otherwise be of the column's domain.
        consumer: sql<string>`${consumer}::text`,
        tenant: sql<string>`${place.tenant}::text`,
        aggregatetype: sql<string>`${place.aggregateType}::text`,
        aggregateid: sql<string>`${place.aggregateId}::text`,
        sequence: sql<string>`${place.sequence}::bigint`,
      })
      .onConflict((conflict) =>
        conflict.columns(['consumer', 'tenant', 'aggregatetype', 'aggregateid']).doNothing(),
      ),
  )
  return numAffectedRows === 1n
}

function sameAggregate(consumer: string, { tenant, aggregateType, aggregateId }: Place) {
  return sql<boolean>`consumer = ${consumer}::text and tenant = ${tenant}::text
    and aggregatetype = ${aggregateType}::text and aggregateid = ${aggregateId}::text`
}
