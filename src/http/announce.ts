/** Lines of headers, such as those that say how a key was treated. */
export type Announced = readonly (readonly [name: string, value: string])[]

/** `true` on every answer that was made by an earlier call. */
export const REPLAYED = ['idempotent-replayed', 'true'] as const

/** Of a refusal, which is of a moment, and of a look at a key, which is of a caller. */
export const NO_STORE = ['cache-control', 'no-store'] as const

/** What a page of another origin may read, as the fetch standard has it. */
export const EXPOSE = 'access-control-expose-headers'

/**
 * What goes with every stored answer: for how many seconds from its first call it is replayed, and
 * where another origin is to read it, its names.
 */
export function announcing(replayWindowMs: number, exposes: boolean): Announced {
  const retention = [
    'idempotency-key-retention',
    String(Math.floor(replayWindowMs / 1_000)),
  ] as const
  if (!exposes) return [retention]
  const names = 'Idempotent-Replayed, Idempotency-Key-Retention, Retry-After, Link'
  return [retention, [EXPOSE, names]]
}

/** Those of them that say what a page may read. */
export function exposedBy(announced: Announced): Announced {
  return announced.filter(([name]) => name === EXPOSE)
}

/**
 * Of middlewares in front and ours: ours in the place of theirs, except that a page may read what either
 * says.
 *
 * @param theirs - by names in lower case.
 */
export function besides(theirs: Announced, ours: Announced): Announced {
  const replaced = new Set(ours.map(([name]) => name.toLowerCase()))
  replaced.delete(EXPOSE)
  return [...theirs.filter(([name]) => !replaced.has(name)), ...ours]
}
