import { ok } from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

export const isArray = (value: unknown): value is readonly Json[] => Array.isArray(value)
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const awkward = ['', '__proto__', 'constructor', 'toJSON', 'length', '0', '10', '\ufb33', '\0']
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom(...awkward))
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, 0.1),
  fc.double({ noNaN: true, noInteger: true, noDefaultInfinity: true }),
)

/** Any JSON value that a fingerprint can be taken of, up to some fifty nodes. */
export const json = jsonOf(text, fc.oneof(fc.constant(null), fc.boolean(), number, text))

/** The same of so few ingredients that two of them are often equal, and else nearly so. */
export const similarJson = jsonOf(
  fc.constantFrom('a', 'b', '__proto__'),
  fc.constantFrom(0, -0, 1, '0', '', null, false, true, 'null'),
)

function jsonOf(names: fc.Arbitrary<string>, leaves: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.letrec<{ value: Json }>((tie) => {
    const property = fc.tuple(names, tie('value'))
    const object = fc
      .uniqueArray(property, { selector: ([name]) => name, maxLength: 4, size: 'max' })
      .map((entries): Json => Object.fromEntries(entries))
    const array: fc.Arbitrary<Json> = fc.array(tie('value'), { maxLength: 4, size: 'max' })
    const value = fc.oneof(
      { maxDepth: 3, depthSize: 'max' },
      { arbitrary: leaves, weight: 1 },
      { arbitrary: array, weight: 1 },
      { arbitrary: object, weight: 2 },
    )
    return { value }
  }).value
}

/** Every value that differs from the given one by a single change of a single node. */
export function* changesOf(value: Json): Generator<Json> {
  yield value === null ? false : null
  yield [value]
  if (typeof value === 'boolean') yield !value
  if (typeof value === 'number') yield* [String(value), value === 0 ? 1 : -value]
  if (typeof value === 'string') yield* [`${value} `, `${value}\0`, JSON.stringify(value)]
  if (isArray(value)) yield* changesOfArray(value)
  if (isObject(value)) yield* changesOfObject(value)
}

function* changesOfArray(array: readonly Json[]): Generator<Json> {
  yield Object.fromEntries(array.entries())
  yield [...array, null]
  for (const [index, item] of array.entries()) {
    yield array.toSpliced(index, 1)
    const next = array[index + 1]
    if (next !== undefined && !isDeepStrictEqual(next, item)) {
      yield array.with(index, next).with(index + 1, item)
    }
    for (const changed of changesOf(item)) yield array.with(index, changed)
  }
}

function* changesOfObject(object: JsonObject): Generator<Json> {
  yield Object.entries(object)
  yield { ...object, 'not there yet': null }
  for (const [name, property] of Object.entries(object)) {
    const others = Object.entries(object).filter(([other]) => other !== name)
    yield Object.fromEntries(others)
    yield Object.fromEntries([...others, [`${name} renamed`, property]])
    for (const changed of changesOf(property)) yield { ...object, [name]: changed }
  }
}

/** The value with something at each place in turn: instead of a node, and as one item more. */
export function* withAtEachPlace(value: Json, what: unknown): Generator {
  yield what
  if (isArray(value)) {
    yield [...value, what]
    for (const [index, item] of value.entries()) {
      for (const inner of withAtEachPlace(item, what)) yield value.with(index, inner as Json)
    }
  } else if (isObject(value)) {
    for (const [name, property] of Object.entries(value)) {
      for (const inner of withAtEachPlace(property, what)) {
        // To a property undefined means absence, which is allowed.
        if (inner !== undefined) yield { ...value, [name]: inner }
      }
    }
  }
}

/** Follows a path such as `$.a["b c"][0]` to what is there. */
export function nodeAt(root: unknown, path: string): unknown {
  const step = /\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y
  ok(path.startsWith('$'), path)
  let node = root
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const [, name, index, quoted] = step.exec(path) ?? []
    const key = name ?? index ?? (JSON.parse(quoted ?? 'null') as string | null)
    ok(typeof node === 'object' && node !== null && key !== null && Object.hasOwn(node, key), path)
    node = (node as Record<string, unknown>)[key]
  }
  return node
}
