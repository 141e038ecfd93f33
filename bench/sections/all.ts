import { firstExecutions } from './first-executions.ts'
import { manyRecords } from './many-records.ts'
import { memory } from './memory.ts'
import { otherOutcomes } from './other-outcomes.ts'
import { replays } from './replays.ts'
import type { Section } from './section.ts'
import { size } from './size.ts'
import { sweeping } from './sweeping.ts'

/** In the order in which they are measured and reported. */
export const sections: readonly Section[] = [
  firstExecutions,
  replays,
  otherOutcomes,
  manyRecords,
  sweeping,
  size,
  memory,
]
