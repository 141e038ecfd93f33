import {
  DummyDriver,
  Kysely,
  type LogConfig,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
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
  const { sql: text, parameters } = statement.compile(nowhere())
  if (parameters.length > 0) throw new Error('a statement of a migration takes no parameters')
  return text.trim()
}

/** A name as SQL has it; of several parts, with the dots between. */
export function quoted(...identifier: readonly string[]): string {
  return textOf(sql.id(...identifier))
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
