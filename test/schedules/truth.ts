import type { Caller, Told } from './caller.ts'
import { type Change, type History, runOf } from './history.ts'
import type { Span } from './schedule.ts'
import type { SeenRecord } from './watcher.ts'

/** What a caller has come to. */
interface Heard {
  readonly caller: Caller
  readonly told: Told
  readonly span: Span
  /** Whether somebody else's open transaction held the record at some moment of the call. */
  readonly isKeptOut: boolean
}

/** @returns what is wrong with what a caller was told, and with what it did. */
export function untruths(heard: Heard, history: History): string[] {
  const { caller, told } = heard
  const made = history.changes.find(
    ({ what, by }) => by === caller.name && (what === 'stored' || what === 'rejected'),
  )
  const problems: string[] = []
  if (caller.runs > 1) problems.push(`the function of ${caller.name} ran ${caller.runs} times`)
  if (caller.runs > 0 && !ran.has(told.kind) && !isFirstRefusal(told)) {
    problems.push(`the function of ${caller.name} ran, and it was told ${shown(told)}`)
  }
  if (made && !isToldOf(made, told)) {
    problems.push(`${made.run} was committed, and ${caller.name} was told ${shown(told)}`)
  }
  if (!isTrue(heard, history, made)) {
    problems.push(`${caller.name} was told ${shown(told)}, which was not so at any moment`)
  }
  return problems
}

/** With these the function was called; with a refusal, if it is the first. */
const ran: ReadonlySet<string> = new Set(['executed', 'applied', 'threw', 'undone'])

function isFirstRefusal({ kind, replayed }: Told): boolean {
  return kind === 'rejected' && replayed === false
}

function isToldOf({ what, run }: Change, told: Told): boolean {
  if (told.run !== run) return false
  return what === 'rejected' ? isFirstRefusal(told) : ['executed', 'applied'].includes(told.kind)
}

function isTrue(heard: Heard, { looks }: History, made: Change | undefined): boolean {
  const { caller, told, span, isKeptOut } = heard
  const { fingerprint, does, joins, waits } = caller.role
  // One moment is enough: nobody can know of a later one.
  const once = (holds: (record: SeenRecord) => boolean) =>
    looks.slice(span.from, span.to + 1).some((record) => record !== undefined && holds(record))
  switch (told.kind) {
    case 'executed':
      return !joins && does === 'writes' && made?.what === 'stored' && made.run === told.run
    case 'applied':
      return joins === 'commits' && made?.what === 'stored' && made.run === told.run
    case 'undone':
      // Told of a replay or of a conflict, its host rolls back as well.
      return joins === 'rolls back' && !made
    case 'threw':
      return does === 'throws' && !made
    case 'rejected':
      if (!told.replayed) return does === 'rejects' && made?.run === told.run
      return once((record) => isAnswer(record, 'rejected', told, fingerprint))
    case 'replayed':
      return once((record) => isAnswer(record, 'completed', told, fingerprint))
    case 'conflict':
      return once((record) => record.fingerprint !== fingerprint)
    case 'expired':
      return once((record) => record.fingerprint === fingerprint && record.due)
    case 'in_progress':
      return !waits && isKeptOut
    default:
      return false
  }
}

function isAnswer(record: SeenRecord, state: string, told: Told, fingerprint: string): boolean {
  const isLive = record.state === state && !record.due
  return isLive && record.fingerprint === fingerprint && runOf(record) === told.run
}

export function shown({ kind, run, error }: Told): string {
  const why = error instanceof Error ? error.message : ''
  return [kind, run, why].filter(Boolean).join(' ')
}
