/** Puts properties in front of those of an object, until they are taken away again. */
export class Mask<Of extends object> {
  readonly #object: Of
  /** What was on the object itself, such as by a middleware in front. */
  readonly #own = new Map<PropertyKey, PropertyDescriptor | undefined>()
  readonly #setMeanwhile = new Map<PropertyKey, unknown>()

  constructor(object: Of) {
    this.#object = object
  }

  /** Something else in its place, which somebody may replace in turn. */
  method(name: PropertyKey, value: (...given: never[]) => unknown): void {
    this.#put(name, { value, writable: true })
  }

  /** Something else to be seen. What it is set to meanwhile counts once it is seen again. */
  seen(name: PropertyKey, get: () => unknown): void {
    this.#put(name, {
      get,
      set: (value: unknown) => {
        this.#setMeanwhile.set(name, value)
      },
    })
  }

  /** Takes all of it away. */
  lift(): void {
    for (const [name, property] of this.#own) {
      if (property) Object.defineProperty(this.#object, name, property)
      else Reflect.deleteProperty(this.#object, name)
    }
    for (const [name, value] of this.#setMeanwhile) Reflect.set(this.#object, name, value)
    this.#own.clear()
    this.#setMeanwhile.clear()
  }

  #put(name: PropertyKey, property: PropertyDescriptor): void {
    this.#own.set(name, Object.getOwnPropertyDescriptor(this.#object, name))
    Object.defineProperty(this.#object, name, { configurable: true, ...property })
  }
}
