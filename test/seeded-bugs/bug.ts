/** A place in the sources, and what is there instead. */
export interface Edit {
  /** From the root of the project. */
  readonly file: string
  /** Has to be there once: otherwise the source has moved on, and the bug with it. */
  readonly find: string
  readonly replace: string
}

/** A command of this project, which is green without the bug. */
export interface Proof {
  /** As it is given by hand. */
  readonly command: string
  /** A script, and what it is given. */
  readonly args: readonly string[]
}

/** A mistake that can be made in the sources, and what notices it. */
export interface SeededBug {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly proof: Proof
  /** What the proof says of this bug, and of no other reason to be red. */
  readonly says: string
}

/** The scenarios of the schedules whose name has a text. */
export function schedules(only: string): Proof {
  return {
    command: `npm run test:schedules -- --only '${only}'`,
    args: ['test/schedules/main.ts', '--only', only],
  }
}

/** One fault at every message of the scenarios whose name has a text, on every host or on one. */
export function faults(scenario: string, fault: string, host = ''): Proof {
  const on = host === '' ? '' : ` --host ${host}`
  return {
    command: `npm run test:faults -- --scenario '${scenario}' --fault ${fault}${on}`,
    args: ['test/faults/main.ts', '--scenario', scenario, '--fault', fault, '--host', host],
  }
}

export function testFile(file: string): Proof {
  return { command: `npm test -- ${file}`, args: ['scripts/test.ts', file] }
}

/** As the runner names a test that has failed. */
export function failed(title: string): string {
  return `✖ ${title}`
}
