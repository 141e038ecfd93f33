import { answers } from './answers.ts'
import type { Check } from './check.ts'
import { contents } from './contents.ts'
import { failures } from './failures.ts'
import { keys } from './keys.ts'
import { requests } from './requests.ts'
import { statuses } from './statuses.ts'
import { underWay } from './under-way.ts'
import { usedUp } from './used-up.ts'

export const checks: readonly Check[] = [
  ...[...keys, ...requests, ...contents],
  ...[...answers, ...statuses],
  ...[...underWay, ...failures, ...usedUp],
]
