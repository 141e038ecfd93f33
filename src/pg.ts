export { oncelyDialect } from './postgres/oncely-dialect.ts'
export {
  guardPool,
  type GuardPoolOptions,
  type PoolClientLike,
  type PoolLike,
} from './postgres/guard-pool.ts'
