import type { Dialect } from 'kysely'
import { guardPool, oncelyDialect } from 'oncely/pg'

import type { Manners } from './database.ts'

const wrap = (dialect: Dialect) => oncelyDialect(dialect)

/** The hosts that the promises are told apart by, and that of `pipeline: true` beside them. */
export const hosts = {
  plain: {},
  guardPool: { guard: (pool) => guardPool(pool) },
  oncelyDialect: { wrap },
  pipelining: { wrap, pipeline: true },
} as const satisfies Record<string, Manners>

export type HostName = keyof typeof hosts

/** The three of the table of promises. */
export const hostNames = ['plain', 'guardPool', 'oncelyDialect'] as const satisfies HostName[]
