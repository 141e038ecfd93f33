/** What one run of the suite came to. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** @returns undefined of a run that did not come to its end. */
export function tallyOf(output: string): Tally | undefined {
  const count = (name: string) => {
    const [, number] = new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, 'm').exec(output) ?? []
    return number === undefined ? undefined : Number(number)
  }
  const [passed, failed, cancelled] = [count('pass'), count('fail'), count('cancelled')]
  const skipped = count('skipped')
  if (passed === undefined || failed === undefined || skipped === undefined) return undefined
  return { passed, failed: failed + (cancelled ?? 0), skipped }
}

/** What the runner says of those that failed, behind everything else. */
export function failuresIn(output: string): string {
  const at = output.indexOf('✖ failing tests:')
  return at < 0 ? output.split('\n').slice(-40).join('\n') : output.slice(at)
}
