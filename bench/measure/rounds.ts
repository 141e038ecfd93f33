import { median, percentile, type Ratio, ratioOf } from './statistics.ts'

/** What one variant did in one round. */
export interface Round {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export type Figure = keyof Round

/** Something that is done again and again, by as many callers at once as there are connections. */
export interface Contestant {
  readonly name: string
  readonly call: () => Promise<unknown>
  /** Made ready before each round, outside the time that is taken. */
  readonly before?: () => Promise<unknown>
  /** Runs beside the calls until the signal aborts. */
  readonly beside?: (signal: AbortSignal) => Promise<unknown>
}

/** Several contestants that were measured in turns. */
export interface Comparison {
  readonly id: string
  readonly title: string
  readonly connections: number
  readonly networkMs: number
  readonly measured: readonly { readonly name: string; readonly rounds: readonly Round[] }[]
}

export interface Pace {
  /** Counted, behind the one that warms up. */
  readonly rounds: number
  readonly roundMs: number
}

/** Rounds of all contestants in turns; every other time backwards, so that none always comes first. */
export async function alternate(
  contestants: readonly Contestant[],
  callers: number,
  { rounds, roundMs }: Pace,
): Promise<Comparison['measured']> {
  const measured = contestants.map(({ name }) => ({ name, rounds: [] as Round[] }))
  const order = [...contestants.keys()]
  for (let index = 0; index <= rounds; index += 1) {
    for (const at of index % 2 === 0 ? order : order.toReversed()) {
      const contestant = contestants[at]
      if (!contestant) continue
      await contestant.before?.()
      const round = await runRound(contestant, callers, roundMs)
      if (index > 0) measured[at]?.rounds.push(round)
    }
  }
  return measured
}

async function runRound(
  { call, beside }: Contestant,
  callers: number,
  roundMs: number,
): Promise<Round> {
  const stop = new AbortController()
  const besides = beside?.(stop.signal)
  const times: number[] = []
  const begun = performance.now()
  const caller = async () => {
    for (let now = performance.now(); now < begun + roundMs;) {
      await call()
      const then = now
      now = performance.now()
      times.push(now - then)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const seconds = (performance.now() - begun) / 1_000
  stop.abort()
  await besides
  const rounded = (value: number) => Number(value.toFixed(3))
  return {
    perSecond: rounded(times.length / seconds),
    p50Ms: rounded(median(times)),
    p99Ms: rounded(percentile(times, 0.99)),
  }
}

export function figures(comparison: Comparison, name: string, figure: Figure): number[] {
  const found = comparison.measured.find((one) => one.name === name)
  return found?.rounds.map((round) => round[figure]) ?? []
}

/** undefined where one of them was not measured. */
export function ratioIn(
  comparison: Comparison | undefined,
  figure: Figure,
  over: string,
  under: string,
): Ratio | undefined {
  if (!comparison) return undefined
  const [above, below] = [figures(comparison, over, figure), figures(comparison, under, figure)]
  return above.length > 0 && below.length > 0 ? ratioOf(above, below) : undefined
}
