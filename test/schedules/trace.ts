/** One statement of a schedule, in the order in which they were sent, or had waited. */
interface Line {
  readonly step: number
  readonly who: string
  readonly statement: string
  answer: string
}

const NAME_OF_SAVEPOINT = /oncely_[0-9a-f]{16}_\d+/g
const SHOWN = 64

/** What happened in one schedule, to be read by people. */
export class Trace {
  readonly #lines: Line[] = []
  /** The number of the choice that is being carried out; none was made yet. */
  step = 0
  /** Whether somebody has waited for somebody else's lock. */
  waited = false

  /** @returns to be called with the statement's answer. */
  sent(who: string, statement: string): (answer: string) => void {
    const { step } = this
    const line: Line = { step, who, statement, answer: 'waits' }
    this.#lines.push(line)
    return (answer) => {
      if (step === this.step) {
        line.answer = answer
      } else {
        this.waited = true
        const later = `${answer}, having waited`
        this.#lines.push({ step: this.step, who, statement, answer: later })
      }
    }
  }

  toString(): string {
    let last = 0
    return this.#lines
      .map(({ step, who, statement, answer }) => {
        const number = step === last ? '' : `${step}.`
        last = step
        const shown = firstWords(statement).padEnd(SHOWN)
        return `${number.padStart(5)} ${who.padEnd(8)} ${shown}  ${answer}`
      })
      .join('\n')
  }
}

/** The same in every run of the same schedule. */
export function firstWords(statement: string): string {
  const words = statement.replace(NAME_OF_SAVEPOINT, 'oncely_…').replace(/\s+/g, ' ')
  return words.length > SHOWN ? `${words.slice(0, SHOWN - 1)}…` : words
}
