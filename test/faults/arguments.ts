import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

import { faultNames, type Selection } from './exhaustive.ts'
import { hostNames } from './notes.ts'
import { scenarioNames } from './scenarios.ts'

/** What the proof is asked for. */
export interface Arguments extends Selection {
  /** Whether nothing is left out. */
  readonly all: boolean
  readonly soak: boolean
  readonly seed: number
  readonly minutes: number
  /** Only this one of the soak. */
  readonly round: number | undefined
}

const options = {
  scenario: { type: 'string', default: '' },
  fault: { type: 'string', default: '' },
  host: { type: 'string', default: '' },
  soak: { type: 'boolean', default: false },
  seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  minutes: { type: 'string', default: '0.25' },
  round: { type: 'string' },
} as const

/** @throws with what is wrong with them. */
export function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({ args: [...args], options })
  const { scenario, fault, host, soak } = values
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)]
  if (!Number.isSafeInteger(seed) || values.seed.trim() === '') {
    throw new TypeError('--seed is a whole number')
  }
  if (!(minutes > 0 && minutes < Infinity)) throw new TypeError('--minutes is a number above 0')
  const round = values.round === undefined ? undefined : Number(values.round)
  if (round !== undefined && !(Number.isSafeInteger(round) && round > 0)) {
    throw new TypeError('--round is a whole number from 1 on')
  }
  refuseUnknown('scenario', scenario, scenarioNames)
  refuseUnknown('fault', fault, faultNames)
  refuseUnknown('host', host, hostNames)
  const all = scenario === '' && fault === '' && host === ''
  return { scenario, fault, host, soak, seed, minutes, round, all }
}

function refuseUnknown(what: string, text: string, names: readonly string[]): void {
  if (names.some((name) => name.includes(text))) return
  throw new TypeError(`no ${what} has '${text}' in its name: ${names.join('; ')}`)
}
