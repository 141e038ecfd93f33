/** The hosts, each under `oncelyDialect`. */
export const hosts = {
  /** Its clients take texts alone, so that it waits for each statement. */
  textsAlone: { sharesTurns: false },
  /** Statements of a call travel together, and its clients pipeline. */
  pipelining: { sharesTurns: true },
} as const

export type HostName = keyof typeof hosts

export const hostNames = Object.keys(hosts) as readonly HostName[]
