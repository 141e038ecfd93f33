import type { SeededBug } from './bug.ts'
import { claims } from './claims.ts'
import { clearing } from './clearing.ts'
import { commits } from './commits.ts'
import { outcomes } from './outcomes.ts'
import { turns } from './turns.ts'

export const bugs: readonly SeededBug[] = [
  ...claims,
  ...outcomes,
  ...commits,
  ...turns,
  ...clearing,
]
