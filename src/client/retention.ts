/** For how long a server keeps a key, in milliseconds, by the origin and the path of what was sent. */
export type Announced = Map<string, number>

/** Of so many paths at most it is remembered: some have the number of an order in them. */
const MOST_PATHS = 1_000

/** What a retention counts for: each route has its own. */
export function pathOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** `Idempotency-Key-Retention`, in seconds, unless it is of what the request was redirected to. */
export function learn(announced: Announced, path: string, response: Response): void {
  const lines = (response.headers.get('idempotency-key-retention') ?? '').split(',')
  const [seconds = '', ...others] = new Set(lines.map((line) => line.trim()))
  if (response.redirected || others.length > 0 || !/^\d{1,9}$/.test(seconds)) return
  announced.delete(path)
  announced.set(path, Number(seconds) * 1_000)
  for (const [oldest] of announced) {
    if (announced.size <= MOST_PATHS) break
    announced.delete(oldest)
  }
}

/** The shorter of what was announced and what was kept of it; undefined where neither is known. */
export function knownRetentionMs(
  announced: Announced,
  path: string,
  kept: number | undefined,
): number | undefined {
  const ms = Math.min(announced.get(path) ?? Infinity, kept ?? Infinity)
  return ms === Infinity ? undefined : ms
}
