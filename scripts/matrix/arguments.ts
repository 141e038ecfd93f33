import type { OtherMajor } from '../../test/support/server-package.ts'

/** 18 is the one that this project is installed with. */
export const majors = [14, 15, 16, 17, 18] as const satisfies readonly (OtherMajor | 18)[]

export type Major = (typeof majors)[number]

export interface MatrixArguments {
  readonly majors: readonly Major[]
  /** Whether only the files run that depend on the server. */
  readonly short: boolean
}

/** @returns a text that says what is wrong with them. */
export function matrixArguments(args: readonly string[]): MatrixArguments | string {
  const names = args.filter((arg) => arg !== '--short')
  const unknown = names.filter((name) => !majors.some((major) => String(major) === name))
  if (unknown.length > 0) {
    return `unknown: ${unknown.join(', ')}; may be given: ${majors.join(', ')}, --short`
  }
  const wanted = majors.filter((major) => names.includes(String(major)))
  return { majors: wanted.length > 0 ? wanted : majors, short: args.includes('--short') }
}
