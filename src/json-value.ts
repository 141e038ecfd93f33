import { OncelyError } from './errors.ts'

/** What JSON can express. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/**
 * What the JSON is for. `parameters` must be told apart when they differ, so nothing is converted.
 * `content` is stored and read again: `toJSON` is honoured, as by `JSON.stringify`.
 */
export type JsonUse = 'parameters' | 'content'

/** Deeper than any document people write, and well within the stack. */
const MAX_DEPTH = 500

/**
 * The same value built of plain JSON alone, each property read once. An undefined property is
 * absent; anything that JSON would drop, fold or rewrite is refused.
 *
 * @throws OncelyError `not_json` with the `path`.
 */
export function toJsonValue(value: unknown, use: JsonUse): JsonValue {
  return new Conversion(use).convert(value, '$', '')
}

class Conversion {
  readonly #use: JsonUse
  readonly #above: object[] = []

  constructor(use: JsonUse) {
    this.#use = use
  }

  convert(given: unknown, path: string, name: string): JsonValue {
    const value = this.#use === 'content' ? honourToJson(given, name) : given
    switch (typeof value) {
      case 'boolean':
        return value
      case 'string':
        return this.#text(value, path)
      case 'number':
        return this.#number(value, path)
      case 'object':
        return value === null ? null : this.#nested(value, path)
      default:
        throw notJson(path, value === undefined ? 'undefined' : `a ${typeof value}`)
    }
  }

  #text(value: string, path: string): string {
    // In content it survives as an escape; in a digest, which is of UTF-8, different halves fold.
    if (this.#use === 'parameters' && !value.isWellFormed()) {
      throw notJson(path, 'half of a surrogate pair')
    }
    return value
  }

  #number(value: number, path: string): number {
    if (!Number.isFinite(value)) throw notJson(path, String(value))
    if (this.#use === 'parameters' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw notJson(path, 'an integer beyond Number.MAX_SAFE_INTEGER, where neighbours are equal')
    }
    return value === 0 ? 0 : value
  }

  #nested(value: object, path: string): JsonValue {
    if (this.#above.includes(value)) throw notJson(path, 'a reference to what it is part of')
    if (this.#above.length === MAX_DEPTH) throw notJson(path, `more than ${MAX_DEPTH} levels`)
    if (Object.getOwnPropertySymbols(value).length > 0) throw notJson(path, 'a property by symbol')
    this.#above.push(value)
    const converted = Array.isArray(value) ? this.#array(value, path) : this.#object(value, path)
    this.#above.pop()
    return converted
  }

  #array(value: readonly unknown[], path: string): JsonValue[] {
    if (Object.keys(value).length !== value.length) {
      throw notJson(path, 'an array with holes or with properties of its own')
    }
    return value.map((item, index) => this.convert(item, `${path}[${index}]`, String(index)))
  }

  #object(value: object, path: string): JsonValue {
    if (!isPlain(value)) throw notJson(path, `an instance of ${classOf(value)}`)
    const properties: [string, JsonValue][] = []
    for (const [name, property] of Object.entries(value)) {
      if (property === undefined) continue
      const at = /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
      properties.push([
        this.#text(name, path + at),
        this.convert(property as unknown, path + at, name),
      ])
    }
    // Not by assignment, to which '__proto__' would mean the prototype.
    return Object.fromEntries(properties)
  }
}

function honourToJson(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? Reflect.apply(toJSON, value, [name]) : value
}

/** Also an object from another realm, whose Object.prototype is not ours. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function classOf(value: object): string {
  const constructor: unknown = value.constructor
  return typeof constructor === 'function' ? constructor.name : 'a class'
}

function notJson(path: string, found: string): OncelyError {
  return new OncelyError('not_json', `not JSON at ${path}: ${found}`, { path })
}
