import { createHash } from 'node:crypto'

import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely'

import type { DB as Tables } from '../../codegen/db.ts'

/** Our tables, for building statements. */
export type TableBuilder = Kysely<Tables>

/** A statement that may be prepared under its name: another text has another name. */
export class NamedQuery<Row> implements CompiledQuery<Row> {
  readonly query: CompiledQuery<Row>['query']
  readonly queryId: CompiledQuery<Row>['queryId']
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** What it may be prepared as. */
  readonly prepared: string

  constructor(
    { query: { query, queryId, sql }, prepared }: Compiled<Row>,
    values: readonly unknown[],
  ) {
    this.query = query
    this.queryId = queryId
    this.sql = sql
    this.parameters = values
    this.prepared = prepared
  }
}

/** The same without a name. */
export function unnamed<Row>({ query, queryId, sql, parameters }: CompiledQuery<Row>) {
  return { query, queryId, sql, parameters } satisfies CompiledQuery<Row>
}

/** Stands in a compiled statement for a value that each execution gives. */
export type ValueOf<Given> = <Name extends keyof Given & string>(
  name: Name,
) => RawBuilder<Given[Name]>

type Build<Given, Row> = (tables: TableBuilder, value: ValueOf<Given>) => CompiledQuery<Row>

interface Compiled<Row> {
  readonly query: CompiledQuery<Row>
  /** The value for each parameter, in order. */
  readonly names: readonly string[]
  readonly prepared: string
}

/**
 * A statement of ours that is compiled once for a schema, and executed with other values each time.
 *
 * @param build - is given our tables, and a function that makes the place of a value.
 */
export class Statement<Given extends object, Row> {
  readonly #build: Build<Given, Row>
  readonly #compiled = new Map<string, Compiled<Row>>()

  constructor(build: Build<Given, Row>) {
    this.#build = build
  }

  with(schema: string, given: Given): NamedQuery<Row> {
    const compiled = this.#in(schema)
    const values = compiled.names.map((of) => given[of as keyof Given])
    return new NamedQuery(compiled, values)
  }

  #in(schema: string): Compiled<Row> {
    const known = this.#compiled.get(schema)
    if (known) return known
    const query = this.#build(tablesIn(schema), placeOf)
    const compiled = {
      query,
      names: query.parameters.map((place) => {
        if (place instanceof Place) return place.name
        throw new Error('a value was given to a statement that is compiled once')
      }),
      prepared: nameOf(query.sql),
    }
    this.#compiled.set(schema, compiled)
    return compiled
  }
}

/** The name under which a text may be prepared. */
export function nameOf(text: string): string {
  return `oncely_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
}

class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

function placeOf<Value>(name: string): RawBuilder<Value> {
  return sql<Value>`${new Place(name)}`
}

class NoDriver extends DummyDriver {
  override acquireConnection(): Promise<never> {
    return Promise.reject(new Error('what builds statements executes none'))
  }
}

const builders = new Map<string, TableBuilder>()

/** Our tables in a schema, for building statements. It is connected to nothing. */
export function tablesIn(schema: string): TableBuilder {
  const known = builders.get(schema)
  if (known) return known
  const builder = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new NoDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }).withSchema(schema)
  builders.set(schema, builder)
  return builder
}
