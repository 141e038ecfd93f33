import { OncelyError } from '../../src/errors.ts'
import { startContainerServer } from './container-server.ts'
import { startEmbeddedServer } from './embedded-server.ts'

/** Of hundreds of databases, each of which is gone before it would have to be looked after. */
const settings = { autovacuum_naptime: '1d', full_page_writes: 'off' }

/** A PostgreSQL to run against, and how to be rid of it. */
export interface DatabaseServer {
  /** Connection string of a role that may create databases. */
  readonly url: string
  /** Whether it goes on when it is stopped here. */
  readonly stays?: boolean
  stop(): Promise<void>
}

/**
 * The server the tests use: `TEST_DATABASE_URL` when set, a `postgres:18` container with
 * `TEST_DATABASE=testcontainers`, otherwise an embedded PostgreSQL 18.
 */
export async function startTestServer(): Promise<DatabaseServer> {
  const kind = process.env['TEST_DATABASE'] ?? 'embedded'
  const url = process.env['TEST_DATABASE_URL']
  if (url) return givenServer(url)
  if (kind === 'testcontainers') return startContainerServer()
  if (kind === 'embedded') return startEmbeddedServer(undefined, settings)
  throw new OncelyError(
    'invalid_options',
    `TEST_DATABASE is '${kind}'; it may be 'embedded' or 'testcontainers'`,
  )
}

/** A server that is there already and stays. */
export function givenServer(url: string): DatabaseServer {
  return { url, stays: true, stop: () => Promise.resolve() }
}
