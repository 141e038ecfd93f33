// One set of behaviours, for any host.
import { before, describe, it } from 'node:test'

import { sql } from 'kysely'

import { answers } from './answers.ts'
import { atOnce } from './at-once.ts'
import { type Behaviour, type ConformingHost, type Subject, subjectOf } from './host.ts'
import { joining } from './joining.ts'
import { lostCommits } from './lost-commits.ts'
import { operations } from './operations.ts'
import { settings } from './settings.ts'
import { sinks } from './sinks.ts'
import { stored } from './stored.ts'

const behaviours = {
  ...answers,
  ...stored,
  ...operations,
  ...joining,
  ...atOnce,
  ...settings,
  ...sinks,
  ...lostCommits,
} as const satisfies Record<string, Behaviour>

type BehaviourName = keyof typeof behaviours

/** To be called at the top of a test file, behind what makes the host's database. */
export function conformance(host: ConformingHost<BehaviourName>): void {
  describe(`${host.name} conforms:`, () => {
    let subject: Subject

    before(async () => {
      await host.prepare?.()
      subject = subjectOf(host)
      await sql`
        create table if not exists public.notes (
          key text not null, body text not null, constraint notes_pkey primary key (key, body)
        )`.execute(subject.watcher)
      await sql`grant select, insert on public.notes to public`.execute(subject.watcher)
    })

    for (const [name, behaviour] of Object.entries(behaviours) as [BehaviourName, Behaviour][]) {
      it(`${name} (${host.name})`, { skip: host.cannot?.[name] ?? false }, () => behaviour(subject))
    }
  })
}
