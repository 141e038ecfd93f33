import type { Janitor } from './scenario.ts'
import type { SeenRecord } from './watcher.ts'

/** What a step has made of the record, as others see it. */
export interface Change {
  readonly step: number
  /** Whose step it was. */
  readonly by: string
  readonly what: 'stored' | 'rejected' | 'cleared' | 'deleted'
  /** Of a record that was stored. */
  readonly run?: string | undefined
}

/** What was committed under the key behind each step; before the first one comes first. */
export interface History {
  readonly looks: readonly (SeenRecord | undefined)[]
  readonly changes: readonly Change[]
  /** What must never happen to a record. */
  readonly problems: readonly string[]
}

/**
 * @param movers - whose each step was.
 */
export function historyOf(
  looks: readonly (SeenRecord | undefined)[],
  movers: readonly string[],
  janitor: Janitor | undefined,
): History {
  const changes: Change[] = []
  const problems: string[] = []
  for (const [index, by] of movers.entries()) {
    const [before, after] = [looks[index], looks[index + 1]]
    if (isSame(before, after)) continue
    const change = changeOf(before, after, by, janitor)
    if (change) changes.push({ step: index + 1, by, ...change })
    else problems.push(`step ${index + 1} made ${show(after)} of ${show(before)}`)
  }
  return { looks, changes, problems }
}

/** Whether nobody can tell them apart; time alone makes a record due. */
function isSame(before: SeenRecord | undefined, after: SeenRecord | undefined): boolean {
  if (!before || !after) return before === after
  const { state, fingerprint, attempt, response } = after
  return (
    before.state === state &&
    before.fingerprint === fingerprint &&
    before.attempt === attempt &&
    before.response === response
  )
}

/** The only ways in which a record may change; undefined for any other. */
function changeOf(
  before: SeenRecord | undefined,
  after: SeenRecord | undefined,
  by: string,
  janitor: Janitor | undefined,
): Pick<Change, 'what' | 'run'> | undefined {
  const isJanitor = by === 'janitor'
  if (!before && after && !isJanitor) {
    const run = runOf(after)
    if (run === undefined || !run.startsWith(by)) return undefined
    if (after.state === 'completed') return { what: 'stored', run }
    return after.state === 'rejected' ? { what: 'rejected', run } : undefined
  }
  if (!before || !isJanitor || !janitor) return undefined
  if (!after) {
    const purges = janitor === 'purges' && before.state === 'expired' && before.purgeable
    return purges ? { what: 'deleted' } : undefined
  }
  const sweeps = janitor === 'sweeps' && before.due && before.state !== 'expired'
  const isTombstone = after.state === 'expired' && after.response === null
  const isOfSame = before.attempt === after.attempt && before.fingerprint === after.fingerprint
  return sweeps && isTombstone && isOfSame ? { what: 'cleared' } : undefined
}

/** The run that a record tells of. */
export function runOf({ response }: SeenRecord): string | undefined {
  if (response === null) return undefined
  const { run } = JSON.parse(response) as { readonly run?: unknown }
  return typeof run === 'string' ? run : undefined
}

export function show(record: SeenRecord | undefined): string {
  if (!record) return 'nothing'
  const { state, fingerprint, response, due } = record
  return `a record (${state}${due ? ', due' : ''}, fingerprint ${fingerprint}, ${response ?? 'no response'})`
}
