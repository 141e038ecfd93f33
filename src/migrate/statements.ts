import {
  DummyDriver,
  Kysely,
  type LogConfig,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
} from 'kysely'

/** Compiles and executes nothing: there is no database behind it. */
function nowhere(log: LogConfig = []): Kysely<unknown> {
  return new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log,
  })
}

/** A statement as the text that is run or printed. */
export function textOf(statement: RawBuilder<unknown>): string {
  const { sql, parameters } = statement.compile(nowhere())
  if (parameters.length > 0) throw new Error('a statement of a migration takes no parameters')
  return sql.trim()
}

/** The statements that a step of a migration would execute. */
export async function statementsOf(
  step: (db: Kysely<unknown>) => Promise<void>,
): Promise<readonly string[]> {
  const statements: string[] = []
  const recorder = nowhere(({ query }) => {
    if (query.parameters.length > 0) throw new Error('a migration takes no parameters')
    statements.push(query.sql.trim())
  })
  await step(recorder)
  return statements
}
