export { oncelyDialect, type OncelyDialectOptions } from './postgres/oncely-dialect.ts'
export {
  guardPool,
  type GuardPoolOptions,
  type PoolClientLike,
  type PoolLike,
} from './postgres/guard-pool.ts'
