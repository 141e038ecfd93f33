import { OVER, within } from '../../src/postgres/within.ts'

/** Longer than any statement takes that is not held up; only a schedule that hangs waits this long. */
const PATIENCE_MS = 20_000

/** Tells the controller whenever a participant comes to another place. */
export class Moves {
  /** How many there were, so that two looks can be known to have been one. */
  count = 0
  #last = performance.now()
  #next = Promise.withResolvers<undefined>()

  note(): void {
    this.count += 1
    this.#last = performance.now()
    this.#next.resolve(undefined)
    this.#next = Promise.withResolvers()
  }

  /** Waits for the next one. */
  async next(): Promise<void> {
    if ((await within(PATIENCE_MS, this.#next.promise)) === OVER) this.refuseHang()
  }

  /** @throws when nobody has moved for too long. */
  refuseHang(): void {
    const silence = performance.now() - this.#last
    if (silence >= PATIENCE_MS) throw new Error(`nobody has moved for ${PATIENCE_MS} ms`)
  }
}
