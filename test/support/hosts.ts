import { guardPool, oncelyDialect } from 'oncely/pg'

import type { Manners } from './database.ts'

/** The three hosts that the promises are told apart by. */
export const hosts = {
  plain: {},
  guardPool: { guard: (pool) => guardPool(pool) },
  oncelyDialect: { wrap: oncelyDialect },
} as const satisfies Record<string, Manners>

export type HostName = keyof typeof hosts

export const hostNames = Object.keys(hosts) as HostName[]
