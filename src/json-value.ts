import { OncelyError } from './errors.ts'

/** What JSON can express. */
type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/**
 * What the JSON is for. `parameters` must be told apart when they differ, so nothing is converted.
 * `content` is stored and read again: `toJSON` is honoured, as by `JSON.stringify`.
 */
type JsonUse = 'parameters' | 'content'

/** Deeper than any document people write, and well within the stack. */
const MAX_DEPTH = 500

/**
 * The same value built of plain JSON alone, each property read once. An undefined property is
 * absent; anything that JSON would drop, fold or rewrite is refused.
 *
 * @throws OncelyError `not_json` with the `path`.
 */
export function toJsonValue(value: unknown, use: JsonUse): JsonValue {
  const conversion = new Conversion(use)
  return conversion.convert(conversion.own(value, ''))
}

class Conversion {
  readonly #use: JsonUse
  readonly #above: object[] = []
  /** The way to where the conversion is: names of properties, and indexes. */
  readonly #path: (string | number)[] = []

  constructor(use: JsonUse) {
    this.#use = use
  }

  /** The value itself, or in content what its `toJSON` makes of it. */
  own(value: unknown, name: string): unknown {
    if (this.#use === 'parameters' || typeof value !== 'object' || value === null) return value
    // JSON would make it null, which nobody who reads a date expects.
    if (value instanceof Date && Number.isNaN(value.getTime())) throw this.#not('an invalid Date')
    const { toJSON } = value as { toJSON?: unknown }
    return typeof toJSON === 'function' ? Reflect.apply(toJSON, value, [name]) : value
  }

  /** Of what `own` returned. */
  convert(value: unknown): JsonValue {
    switch (typeof value) {
      case 'boolean':
        return value
      case 'string':
        return this.#text(value)
      case 'number':
        return this.#number(value)
      case 'object':
        return value === null ? null : this.#nested(value)
      default:
        throw this.#not(value === undefined ? 'undefined' : `a ${typeof value}`)
    }
  }

  #text(value: string): string {
    // In content it survives as an escape; in a digest, which is of UTF-8, different halves fold.
    if (this.#use === 'parameters' && !value.isWellFormed()) {
      throw this.#not('half of a surrogate pair')
    }
    return value
  }

  #number(value: number): number {
    if (!Number.isFinite(value)) throw this.#not(String(value))
    if (this.#use === 'parameters' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw this.#not('an integer beyond Number.MAX_SAFE_INTEGER, where neighbours are equal')
    }
    return value === 0 ? 0 : value
  }

  #nested(value: object): JsonValue {
    if (this.#above.includes(value)) throw this.#not('a reference to what it is part of')
    if (this.#above.length === MAX_DEPTH) throw this.#not(`more than ${MAX_DEPTH} levels`)
    if (Object.getOwnPropertySymbols(value).length > 0) throw this.#not('a property by symbol')
    this.#above.push(value)
    const converted = Array.isArray(value) ? this.#array(value) : this.#object(value)
    this.#above.pop()
    return converted
  }

  #array(value: readonly unknown[]): JsonValue[] {
    if (this.#use === 'parameters' && !isPlain(value, Array)) {
      throw this.#not(`an instance of ${classOf(value)}`)
    }
    const names = Object.keys(value)
    // As many as there are places, and the last of them is the last place: others come behind those.
    if (names.length !== value.length || (names.at(-1) ?? '-1') !== String(value.length - 1)) {
      throw this.#not('an array with holes or with properties of its own')
    }
    return value.map((item: unknown, index) => {
      this.#path.push(index)
      const converted = this.convert(this.own(item, String(index)))
      this.#path.pop()
      return converted
    })
  }

  #object(value: object): JsonValue {
    if (!isPlain(value, Object)) throw this.#not(`an instance of ${classOf(value)}`)
    const properties: Record<string, JsonValue> = {}
    for (const name of Object.keys(value)) {
      this.#path.push(name)
      const property = this.own((value as Record<string, unknown>)[name], name)
      if (property !== undefined) define(properties, this.#text(name), this.convert(property))
      this.#path.pop()
    }
    return properties
  }

  #not(found: string): OncelyError {
    const steps = this.#path.map((step) => {
      if (typeof step === 'number') return `[${step}]`
      return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
    })
    const path = `$${steps.join('')}`
    return new OncelyError('not_json', `not JSON at ${path}: ${found}`, { path })
  }
}

/** To an assignment '__proto__' would mean the prototype. */
function define(properties: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name !== '__proto__') properties[name] = value
  else Object.defineProperty(properties, name, { value, enumerable: true })
}

/**
 * Whether a value is made by the literal, `{}` or `[]`, and not by a class; also one from another
 * realm, whose constructors are others of the same name.
 */
function isPlain(value: object, literal: ObjectConstructor | ArrayConstructor): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === literal.prototype) return true
  if (typeof prototype !== 'object' || prototype === null) return literal === Object
  const above: unknown = Object.getPrototypeOf(prototype)
  // As parsers make them that mind `__proto__`: of an empty prototype that has none itself.
  if (above === null && literal === Object && Reflect.ownKeys(prototype).length === 0) return true
  const root = literal === Object ? prototype : above
  if (typeof root !== 'object' || root === null) return false
  return Object.getPrototypeOf(root) === null && Object.hasOwn(root, 'isPrototypeOf')
}

function classOf(value: object): string {
  const constructor: unknown = value.constructor
  return typeof constructor === 'function' ? constructor.name : 'a class'
}
