declare const refusal: unique symbol

const brand = Symbol.for('oncely.rejection')

/**
 * A business refusal, made by `context.reject` and returned by the business function: its writes
 * are undone, the refusal is stored and replayed.
 */
export class Rejection<Refusal> {
  /** @internal */
  readonly [brand] = true
  /** Only for the compiler: two rejections of different refusals are different types. */
  declare readonly [refusal]: Refusal
  /** @internal */
  readonly value: unknown

  /** @internal */
  constructor(value: Refusal) {
    this.value = value
  }
}

/** By a brand, so that it holds across two copies of the package. */
export function isRejection(value: unknown): value is Rejection<unknown> {
  return typeof value === 'object' && value !== null && brand in value
}
