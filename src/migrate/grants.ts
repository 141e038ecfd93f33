import { bookkeeping } from '../../migrations/index.ts'
import { OncelyError } from '../errors.ts'
import { checkFlag, checkNames, checkSchema } from '../checks.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import { quoted } from './statements.ts'

/** What a role may do with a table. */
export interface TableRights {
  readonly table: string
  readonly privileges: readonly ('select' | 'insert' | 'update' | 'delete')[]
}

/** Which role, and what it is for. */
export interface GrantOptions {
  /** The role that the application connects as. */
  readonly role: string
  /**
   * The schema that the tables are in.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
  /**
   * Whether the role also purges: it may then delete records.
   *
   * @defaultValue false
   */
  readonly sweeper?: boolean
  /**
   * Whether the role also works with the reference orders.
   *
   * @defaultValue false
   */
  readonly withOrders?: boolean
}

/** The rights that the library uses at run time; none of them changes a table. */
export function rightsFor({
  sweeper = false,
  withOrders = false,
}: Pick<GrantOptions, 'sweeper' | 'withOrders'>): readonly TableRights[] {
  return [
    {
      table: 'records',
      privileges: ['select', 'insert', 'update', ...(sweeper ? (['delete'] as const) : [])],
    },
    {
      table: 'quota_uses',
      privileges: ['select', 'insert', 'update', ...(sweeper ? (['delete'] as const) : [])],
    },
    { table: 'outbox', privileges: ['insert'] },
    {
      table: 'sink',
      privileges: ['select', 'insert', ...(sweeper ? (['update', 'delete'] as const) : [])],
    },
    { table: 'sink_sequences', privileges: ['select', 'insert', 'update'] },
    // For `oncely doctor` and `oncely migrate status`.
    { table: bookkeeping.migrationTableName, privileges: ['select'] },
    ...(withOrders
      ? [{ table: 'orders', privileges: ['select', 'insert', 'update'] } as const]
      : []),
  ]
}

/**
 * The statements that let a role without any right to change tables use the library.
 *
 * @throws OncelyError `invalid_options`.
 */
export function grantStatements(options: GrantOptions): readonly string[] {
  checkNames(options, ['role', 'schema', 'sweeper', 'withOrders'])
  const { role, schema = DEFAULT_SCHEMA } = options
  checkSchema(schema)
  // Quoted or not, these two are not the name of a role.
  const noName = !role || ['public', 'none'].includes(role)
  if (typeof role !== 'string' || noName || Buffer.byteLength(role) > 63) {
    throw new OncelyError('invalid_options', 'role must be the name of a PostgreSQL role')
  }
  checkFlag('sweeper', options.sweeper ?? false)
  checkFlag('withOrders', options.withOrders ?? false)
  const statement = (rights: string, on: string) => `grant ${rights} on ${on} to ${quoted(role)}`
  return [
    statement('usage', `schema ${quoted(schema)}`),
    ...rightsFor(options).map(({ table, privileges }) =>
      statement(privileges.join(', '), quoted(schema, table)),
    ),
  ]
}
