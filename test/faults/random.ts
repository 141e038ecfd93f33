/** Numbers that look random and are the same again for the same seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1: mulberry32, whose 32 bits of state are plenty for choosing. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 1 to `max`. */
  upTo(max: number): number {
    return 1 + Math.floor(this.next() * max)
  }

  /** One of several. */
  of<const Item>(items: readonly Item[]): Item {
    return items[this.upTo(items.length) - 1] as Item
  }
}
