/** What the pools of a host are given beside the usual; each is under `oncelyDialect`. */
export const hosts = {
  oncelyDialect: {},
  // Its clients send a statement before the one in front is answered.
  pipelining: { pipeline: true },
} as const

export type HostName = keyof typeof hosts

export const hostNames = Object.keys(hosts) as readonly HostName[]
