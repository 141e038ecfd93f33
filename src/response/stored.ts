/**
 * What becomes of a value when it is stored as JSON and read again: what has a `toJSON` is what
 * that returns, so a Date is a string; properties that hold a function or a symbol are refused at
 * run time, and so is what JSON cannot express, such as a bigint or a Map.
 */
export type Stored<T> =
  // Not distributed over boolean and unions of literals, which stay as they are written.
  T extends string | number | boolean | null | undefined
    ? T
    : [T] extends [Nothing]
      ? undefined
      : T extends { toJSON(...args: never[]): infer Json }
        ? Stored<Json>
        : T extends bigint | symbol | ((...args: never[]) => unknown) | NotJson
          ? never
          : T extends readonly unknown[]
            ? { -readonly [Index in keyof T]: Stored<T[Index]> }
            : T extends object
              ? {
                  -readonly [Name in keyof T as Name extends symbol ? never : Name]: Stored<T[Name]>
                }
              : unknown

/** What a function without a return comes to: undefined at run time. */
type Nothing = ReturnType<() => void>

type NotJson =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | RegExp
  | Error
  | Promise<unknown>
  | ArrayBuffer
  | ArrayBufferView
