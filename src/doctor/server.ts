import { type Kysely, sql } from 'kysely'

import { enter } from '../postgres/enter.ts'
import { OLDEST_VERSION } from '../postgres/server.ts'
import type { Finding } from './finding.ts'

/** The settings as a session of this role has them; times in milliseconds. */
interface Server {
  readonly server_version: string
  readonly version: number
  readonly role: string
  readonly database: string
  readonly in_recovery: boolean
  readonly read_only: boolean
  readonly isolation: string
  readonly fsync: string
  readonly synchronous_commit: string
  readonly timeouts: Readonly<Record<string, number>>
}

export async function readServer<DB>(db: Kysely<DB>): Promise<Server> {
  // The schema does not matter: nothing of it is read.
  const own = enter(db, 'public')
  const { rows } = await own.run(
    sql<Server>`select
      current_setting('server_version') as server_version,
      current_setting('server_version_num')::int as version,
      current_user as role,
      current_database() as database,
      pg_is_in_recovery() as in_recovery,
      current_setting('default_transaction_read_only')::bool as read_only,
      current_setting('default_transaction_isolation') as isolation,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      (select json_object_agg(name, setting::float8) from pg_settings where unit = 'ms' and name in (
        'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'
      )) as timeouts`.compile(own.tables),
  )
  return rows[0] as Server
}

/** node-postgres gives an idle connection up after this long, unless told otherwise. */
const POOL_IDLE_MS = 10_000
/** Between two statements of a business function a runtime may well be busy with others. */
const SHORTEST_SILENCE_MS = 1_000

export function serverFindings(server: Server, lockTimeoutMs: number): readonly Finding[] {
  if (server.version < OLDEST_VERSION * 10_000) {
    return [
      {
        code: 'server_too_old',
        problem: `the server is PostgreSQL ${server.server_version}`,
        mend: `upgrade it to PostgreSQL ${OLDEST_VERSION} or newer`,
      },
    ]
  }
  const findings: Finding[] = []
  const add = (...[code, problem, mend]: [Finding['code'], string, string]) => {
    findings.push({ code, problem, mend })
  }
  const role = `alter role "${server.role.replaceAll('"', '""')}"`
  if (server.in_recovery) {
    add('read_only', 'the server is a standby, which takes no writes', 'connect to the primary')
  }
  if (server.read_only) {
    add(
      'read_only',
      'default_transaction_read_only is on: what the host writes outside of oncely is refused',
      `${role} set default_transaction_read_only to off;`,
    )
  }
  if (server.isolation !== 'read committed') {
    add(
      'isolation_default',
      `default_transaction_isolation is ${server.isolation}: oncely opens its own transactions in read committed, and cannot join one of the host's`,
      `${role} set default_transaction_isolation to 'read committed'; or set the isolation level where a transaction to be joined is opened`,
    )
  }
  const limits = {
    statement_timeout: [
      lockTimeoutMs,
      `of lockTimeoutMs, ${lockTimeoutMs} ms: a twin that waits fails instead of being told in_progress`,
    ],
    transaction_timeout: [
      lockTimeoutMs,
      `of lockTimeoutMs, ${lockTimeoutMs} ms: a twin that waits loses its connection instead of being told in_progress`,
    ],
    idle_in_transaction_session_timeout: [
      SHORTEST_SILENCE_MS,
      'of one second: a business function that waits for anything but SQL loses its transaction',
    ],
    idle_session_timeout: [
      POOL_IDLE_MS,
      "of the 10 seconds that node-postgres keeps an idle connection: the pool's connections are cut while idle",
    ],
  } as const
  for (const [name, [limit, why]] of Object.entries(limits)) {
    const value = server.timeouts[name] ?? 0
    if (value === 0 || value > limit) continue
    add(
      'timeout_short',
      `${name} is ${value} ms, within ${why}`,
      `${role} set ${name} to '${limit * 4}ms'; or 0 for none`,
    )
  }
  return findings
}

export function serverNotes(server: Server, pipeline: boolean | undefined): readonly string[] {
  const { server_version, role, database, synchronous_commit, fsync } = server
  return [
    `PostgreSQL ${server_version}, database ${database}, role ${role}`,
    pipeline === undefined
      ? "pipelining: not known; it is on where the application's Pool has `pipeline: true`"
      : `pipelining: ${pipeline ? 'on' : 'off; `pipeline: true` in the Pool turns it on'}`,
    ...(synchronous_commit === 'off' || fsync === 'off'
      ? [
          `synchronous_commit is ${synchronous_commit} and fsync is ${fsync}: a crash of the server can undo what was committed, record and business write together`,
        ]
      : []),
  ]
}
