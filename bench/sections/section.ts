import type { Ground } from '../ground.ts'
import type { Comparison, Pace } from '../measure/rounds.ts'

/** A table of the report that is no comparison of rounds, such as of sizes. */
export interface Table {
  readonly title: string
  readonly rows: readonly (readonly string[])[]
}

/** What a section has to say; all of it goes into the JSON and the report. */
export interface Figures {
  readonly comparisons?: readonly Comparison[]
  readonly tables?: readonly Table[]
  /** What the tables say that is not as promised. */
  readonly missed?: readonly string[]
}

/** How thoroughly it is measured. */
export interface Plan {
  readonly quick: boolean
  /** Of what a budget is for. */
  readonly budgeted: Pace
  /** Of everything else; undefined leaves it out. */
  readonly other: Pace | undefined
  /** Records in the large table. */
  readonly many: number
  /** Whether a comparison was asked for. */
  readonly wants: (id: string) => boolean
}

/** One part of the benchmark. */
export interface Section {
  readonly name: string
  /** What the ids of its comparisons begin with. */
  readonly id: string
  /** A quick run has no time for it, unless it is asked for by name. */
  readonly fullOnly?: boolean
  run(ground: Ground, plan: Plan): Promise<Figures>
}
