import type { Kysely } from 'kysely'
import type { Finding, ToldCall } from 'oncely/testing'

import type { Note, NotesDatabase, Runs } from './notes.ts'

/** Who may be told of a run that is stored: whose call it was, and nobody of a replay or an error. */
const tellable: readonly (string | undefined)[] = [
  ...['executed', 'applied', 'rejected', 'unknown'],
  // Never told, such as one that was killed.
  undefined,
]

/** What has to hold of a key under which notes are written, beside what every caller may ask. */
export async function checkNotes(
  db: Kysely<NotesDatabase>,
  runs: Runs,
  key: string,
  calls: readonly ToldCall[],
): Promise<Finding[]> {
  const { notes, records, events } = await left(db, key)
  const findings: Finding[] = []
  const add = (wrong: Finding['wrong'], why: string) => findings.push({ wrong, why })

  const states = records.map(({ state }) => state).join()
  if (!/^(completed|rejected|expired)$/.test(states)) add('lost', `the records are '${states}'`)
  if (events.join() !== notes.join()) {
    add('misreported', `events of [${events.join()}], and notes of [${notes.join()}]`)
  }
  const stored = records.flatMap(({ response }) => (response ? runIn(response) : []))
  if (states === 'completed' && stored.join() !== notes.join()) {
    add('misreported', `a response of [${stored.join()}], and notes of [${notes.join()}]`)
  }
  if (states === 'rejected' && notes.length > 0) add('duplicated', 'a note of a refusal is there')
  for (const run of [...notes, ...stored]) {
    const told = runs.toldOf(run)
    if (!tellable.includes(told)) add('misreported', `${run} is there, and was told ${told}`)
  }
  for (const run of calls.flatMap(({ told }) =>
    told && 'result' in told ? answered(told.result) : [],
  )) {
    // What a tombstone has forgotten, nobody is told any more.
    if (!stored.includes(run)) add('lost', `${run} was answered and is not there`)
  }
  for (const run of runs.again.splice(0)) add('duplicated', `the function ran again, as ${run}`)
  return findings
}

async function left(db: Kysely<NotesDatabase>, key: string) {
  const own = db.withSchema('idem')
  const [notes, records, events] = await Promise.all([
    db.selectFrom('public.notes').select('body').where('key', '=', key).execute(),
    own.selectFrom('records').select(['state', 'response']).where('key', '=', key).execute(),
    own.selectFrom('outbox').select('payload').where('aggregateid', '=', key).execute(),
  ])
  return {
    notes: notes.map(({ body }) => body),
    records,
    events: events.map(({ payload }) => (payload as unknown as Note).run),
  }
}

function runIn(response: Buffer): string {
  return (JSON.parse(response.toString()) as Note).run
}

/** Of a value or of a refusal. */
function answered(result: unknown): string[] {
  const { value, refusal } = result as { readonly value?: Note; readonly refusal?: Note }
  const note = value ?? refusal
  return note ? [note.run] : []
}
