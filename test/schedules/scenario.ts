import type { IdempotencyOptions } from 'oncely'

import type { FingerprintName } from './fingerprints.ts'
import { type HostName, hostNames } from './hosts.ts'
import type { Before } from './watcher.ts'

/** What a caller wants, and how its business function ends. */
export interface CallerRole {
  readonly fingerprint: FingerprintName
  readonly does: 'writes' | 'throws' | 'rejects'
  /** Whether it waits for a twin for as long as it takes, or not at all. */
  readonly waits: boolean
  /** In a transaction of its own, unless it joins its host's, which ends so. */
  readonly joins?: 'commits' | 'rolls back'
  readonly options?: IdempotencyOptions
}

/** Two callers; or one, with whom a janitor's every statement makes not too many schedules. */
export interface Pair {
  readonly name: string
  readonly first: CallerRole
  readonly second?: CallerRole
}

/** What a janitor does. */
export type Janitor = 'sweeps' | 'purges'

/** Who clears up meanwhile, and what there was before. */
export interface Company {
  readonly name: string
  readonly janitor?: Janitor
  readonly before?: Before
  readonly options?: IdempotencyOptions
  /** Windows are as short as can be: each has passed before the next step. */
  readonly overAtOnce?: true
  /** The pairs it is worth its while for: with a janitor, schedules are many. */
  readonly pairs: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly host: HostName
  readonly pair: Pair
  readonly company: Company
  /** Without the reduction, by which the rest of them are many fewer. */
  readonly everyStatement: boolean
}

const plain: CallerRole = { fingerprint: 'one', does: 'writes', waits: true }

// Who waits comes to the same whether or not the janitor was at work just then.
const oneCaller: Pair = { name: 'one caller', first: { ...plain, waits: false } }

const pairs: readonly Pair[] = [
  { name: 'same fingerprint', first: plain, second: plain },
  { name: 'other fingerprint', first: plain, second: { ...plain, fingerprint: 'other' } },
  { name: 'first throws', first: { ...plain, does: 'throws' }, second: plain },
  { name: 'first rejects', first: { ...plain, does: 'rejects' }, second: plain },
  { name: 'second does not wait', first: plain, second: { ...plain, waits: false } },
  { name: 'second joins', first: plain, second: { ...plain, joins: 'commits' } },
  { name: 'second is undone', first: plain, second: { ...plain, joins: 'rolls back' } },
  { name: 'second locks', first: plain, second: { ...plain, options: { replayLock: 'share' } } },
]

const alone: Company = { name: 'nobody', pairs: pairs.map(({ name }) => name) }

/** Much longer than a schedule takes, and much shorter than that of the old tombstone. */
const tombstoneWindowMs = 60_000

const companies: readonly Company[] = [
  { name: 'sweeper', janitor: 'sweeps', pairs: ['same fingerprint'] },
  {
    name: 'sweeper, window over at once',
    janitor: 'sweeps',
    options: { replayWindowMs: 1 },
    overAtOnce: true,
    pairs: [
      'same fingerprint',
      'other fingerprint',
      'first throws',
      'first rejects',
      'second does not wait',
      'second joins',
      'second locks',
    ],
  },
  {
    name: 'sweeper, due record',
    janitor: 'sweeps',
    before: { state: 'completed', forMs: 1_000 },
    pairs: ['same fingerprint', 'second does not wait', 'one caller'],
  },
  {
    name: 'purge, young tombstone',
    janitor: 'purges',
    before: { state: 'expired', forMs: 0 },
    options: { tombstoneWindowMs },
    pairs: ['same fingerprint'],
  },
  {
    name: 'purge, old tombstone',
    janitor: 'purges',
    before: { state: 'expired', forMs: 10 * tombstoneWindowMs },
    options: { tombstoneWindowMs },
    pairs: [
      'same fingerprint',
      'other fingerprint',
      'first throws',
      'first rejects',
      'second does not wait',
      'one caller',
    ],
  },
]

/** A hundred years, the longest window there is. */
const NEVER_MS = 3_155_760_000_000

export const EVERY_STATEMENT = ', every statement'

/** By their statements those of 'second joins' and 'same fingerprint', but for one that is always seen. */
const alike: readonly string[] = ['second is undone', 'second locks']

/** By every statement too, where schedules are few enough: so the reduction is checked. */
const bothWays = (host: HostName, pair: Pair, company: Company) =>
  pair === oneCaller
    ? host === 'textsAlone' || company.janitor === 'sweeps'
    : company === alone && !alike.includes(pair.name)

/** Whoever joins a transaction waits for each statement, on whatever host. */
const isWorthIt = (host: HostName, pair: Pair, company: Company) =>
  company.pairs.includes(pair.name) &&
  (host === 'textsAlone' || company === alone || pair.second?.joins === undefined)

const scenariosOn = (host: HostName): readonly Scenario[] =>
  [oneCaller, ...pairs].flatMap((pair) =>
    [alone, ...companies]
      .filter((company) => isWorthIt(host, pair, company))
      .flatMap((company) => {
        const name = `${pair.name} with ${company.name}`
        const reduced: Scenario = { name, host, pair, company, everyStatement: false }
        const every = { ...reduced, name: name + EVERY_STATEMENT, everyStatement: true }
        return bothWays(host, pair, company) ? [reduced, every] : [reduced]
      }),
  )

export const scenarios: readonly Scenario[] = hostNames.flatMap(scenariosOn)

/** After how long a tombstone is seen to be due for a purge. */
export function sightOf({ options }: Company): number {
  return options?.tombstoneWindowMs ?? NEVER_MS
}
