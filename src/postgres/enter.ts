import {
  type Compilable,
  type CompiledQuery,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  sql,
} from 'kysely'

import type { DB as Tables } from '../../codegen/db.ts'
import { OncelyError } from '../errors.ts'
import type { HeldConnection } from './held-connection.ts'
import { SQLSTATE, sqlState } from './sqlstate.ts'
import { type Statement, tablesIn, unnamed } from './statement.ts'

/** How a statement of ours reaches the server. */
interface Line {
  execute<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>>
  /** What it means where one has failed. */
  failure(error: unknown): unknown
  /** Whether statements may be sent before the one in front is answered. */
  readonly sharesTurns: boolean
  /** To be told which server process has answered. */
  answeredBy(pid: string): void
  /** To be told before anything of the host's runs. */
  hostRuns(): void
}

/**
 * Our tables on the host's connection. The host's database is entered here and nowhere else: its
 * plugins are off, since they would rename our columns and parse our texts, and the schema is ours.
 */
class OwnTables {
  /** For building statements; `run` executes them. */
  readonly tables: Kysely<Tables>
  readonly schema: string
  readonly #line: Line

  constructor(schema: string, line: Line) {
    this.tables = tablesIn(schema)
    this.schema = schema
    this.#line = line
  }

  /** Whether statements share turns: those that are run before the one in front is answered. */
  get sharesTurns(): boolean {
    return this.#line.sharesTurns
  }

  /** A table of ours by its whole name, for statements that are written as text. */
  table(name: keyof Tables): RawBuilder<unknown> {
    return sql.id(this.schema, name)
  }

  /**
   * Executes one statement of ours.
   *
   * @throws OncelyError `schema_missing`, `schema_outdated` or `access_denied`; the driver's error otherwise.
   */
  run<Row>(query: CompiledQuery<Row> | Compilable<Row>): Promise<QueryResult<Row>> {
    const answered = this.#line.execute('compile' in query ? query.compile() : query)
    return answered.then(undefined, (error: unknown) => {
      throw this.explained(this.#line.failure(error))
    })
  }

  /**
   * Executes several, of which each is sent before the one in front is answered where that can be.
   *
   * @throws what the first of them failed with, as the others fail because of it.
   */
  async together<Answers extends readonly unknown[]>(steps: {
    readonly [At in keyof Answers]: () => Promise<Answers[At]>
  }): Promise<Answers> {
    const answers: PromiseSettledResult<unknown>[] = []
    if (this.sharesTurns) {
      answers.push(...(await Promise.allSettled(steps.map((step) => step()))))
    } else {
      for (const step of steps) answers.push({ status: 'fulfilled', value: await step() })
    }
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason
      return answer.value
    }) as unknown as Answers
  }

  /** The same for one that is compiled once. */
  perform<Given extends object, Row>(
    statement: Statement<Given, Row>,
    given: Given,
  ): Promise<QueryResult<Row>> {
    return this.run(statement.with(this.schema, given))
  }

  /** To be told which server process has answered a statement that may have been prepared. */
  answeredBy(pid: string): void {
    this.#line.answeredBy(pid)
  }

  /** To be told before anything of the host's runs: from then on nothing is done again unasked. */
  hostRuns(): void {
    this.#line.hostRuns()
  }

  /** What the failure of a statement of ours is told as. */
  explained(error: unknown): unknown {
    return error instanceof OncelyError ? error : (this.#schemaError(error) ?? error)
  }

  #schemaError(cause: unknown): OncelyError | undefined {
    const migrate = `run \`oncely migrate\` for the schema '${this.schema}'`
    switch (sqlState(cause)) {
      case SQLSTATE.undefinedTable:
      case SQLSTATE.invalidSchemaName:
        return new OncelyError('schema_missing', `the tables are missing: ${migrate}`, { cause })
      case SQLSTATE.undefinedColumn:
      case SQLSTATE.undefinedFunction:
        return new OncelyError(
          'schema_outdated',
          `the tables are too old, or were changed: ${migrate}, then \`oncely doctor\``,
          { cause },
        )
      case SQLSTATE.insufficientPrivilege:
        return new OncelyError(
          'access_denied',
          `${messageOf(cause)} in the schema '${this.schema}'; \`oncely migrate grants\` prints what a role needs`,
          { cause },
        )
      default:
        return undefined
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Enters the host's database, or a transaction on it. Only who looks after the schema itself goes
 * another way, since there every error means something else: the migrations and the doctor.
 */
export function enter<DB>(host: Kysely<DB>, schema: string): OwnTables {
  const plain = host.withoutPlugins()
  return new OwnTables(schema, {
    sharesTurns: false,
    answeredBy: () => undefined,
    hostRuns: () => undefined,
    failure: (error) => error,
    // By no name: where one is not known, nobody here could go on without it.
    execute: (query) => plain.executeQuery(unnamed(query)),
  })
}

/** Enters a transaction that is ours, on the connection that is held for it. */
export function enterHeld(held: HeldConnection, schema: string): OwnTables {
  return new OwnTables(schema, held)
}

export type { OwnTables }
