import { answers } from './answers.ts'
import type { Check } from './check.ts'
import { keys } from './keys.ts'
import { requests } from './requests.ts'
import { underWay } from './under-way.ts'

export const checks: readonly Check[] = [...keys, ...requests, ...answers, ...underWay]
