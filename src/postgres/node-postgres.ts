/** What of node-postgres is used for a statement. Most of it has no types. */
interface Exported {
  readonly Query: { readonly prototype: object }
  readonly Connection: new (config: { readonly stream: object }) => Writer
  readonly Result: new () => Answer
  readonly utils: { readonly prepareValue: (value: unknown) => unknown }
}

/** What it has for the result of a statement. */
export interface Answer {
  readonly command: string | null
  readonly rowCount: number | null
  readonly rows: unknown[]
  addFields(fields: unknown): void
  addRow(row: unknown): void
  parseRow(fields: unknown): unknown
  addCommandComplete(message: unknown): void
}

/** What it writes messages with: a connection, or what stands for one. */
export interface Writer {
  parse(statement: { readonly text: string; readonly name: string | undefined }): void
  bind(portal: {
    readonly statement: string | undefined
    readonly values: readonly unknown[]
    readonly valueMapper: (value: unknown) => unknown
  }): void
  describe(portal: { readonly type: 'P' }): void
  execute(portal: { readonly portal: '' }): void
  sync(): void
}

/** Makes and reads the messages of a statement as node-postgres does. */
export class NodePostgres {
  /** What its queries inherit. */
  readonly queries: object
  readonly #exported: Exported
  readonly #writer: Writer
  #chunks: Buffer[] = []

  constructor(exported: Exported) {
    this.queries = exported.Query.prototype
    this.#exported = exported
    const write = (bytes: Buffer) => this.#chunks.push(bytes)
    this.#writer = new exported.Connection({ stream: { writable: true, write } })
  }

  answer(): Answer {
    return new this.#exported.Result()
  }

  /** As PostgreSQL takes a value: most of ours are that already. */
  readonly valueMapper = (value: unknown): unknown =>
    typeof value === 'string' || value === null ? value : this.#exported.utils.prepareValue(value)

  /**
   * The messages of several statements, and Sync behind them.
   *
   * @param write - writes a statement. Of one for which it throws nothing is kept.
   * @param failed - is told which one that is. Those behind it are left out.
   */
  messages<Statement>(
    statements: readonly Statement[],
    write: (statement: Statement, writer: Writer) => void,
    failed: (place: number, error: unknown) => void,
  ): Buffer {
    this.#chunks = []
    for (const [place, statement] of statements.entries()) {
      const { length } = this.#chunks
      try {
        write(statement, this.#writer)
      } catch (error) {
        this.#chunks.length = length
        failed(place, error)
        break
      }
    }
    this.#writer.sync()
    return Buffer.concat(this.#chunks)
  }
}

let loaded: Promise<NodePostgres | undefined> | undefined

/**
 * pg is an optional peer. It is asked for by this expression and by no import of its own, so that a
 * bundler lets it be missing.
 */
export function loadNodePostgres(): Promise<NodePostgres | undefined> {
  loaded ??= import('pg')
    .then(({ default: pg }) => new NodePostgres(pg as unknown as Exported))
    .catch(() => undefined)
  return loaded
}
