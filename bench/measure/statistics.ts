export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

/** @param share - 0.99 for the value that 99 of 100 do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

/** Of one figure to another, round by round, so that what slows a whole round down cancels out. */
export interface Ratio {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function ratioOf(over: readonly number[], under: readonly number[]): Ratio {
  const ratios = over.map((value, round) => value / (under[round] ?? NaN))
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) }
}
