import type { GenericContainer } from 'testcontainers'

import { OncelyError } from '../../src/errors.ts'
import type { DatabaseServer } from './database-server.ts'

/** Starts `postgres:18` in a container, on whatever Docker engine testcontainers finds. */
export async function startContainerServer(): Promise<DatabaseServer> {
  // Loaded only when asked for: it looks for an engine and takes a while to import.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  const container = await new PostgreSqlContainer('postgres:18')
    .withCommand(['postgres', '-c', 'max_connections=400', '-c', 'fsync=off'])
    .withHealthCheck(health)
    .start()
    .catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new OncelyError('database_unreachable', `no postgres:18 container: ${reason}`, {
        cause,
      })
    })
  return {
    url: container.getConnectionUri(),
    async stop() {
      await container.stop()
    },
  }
}

/**
 * The server is the first process of its container, and inherits what a killed check leaves behind; a child
 * that ends by a signal it takes for a crash, and starts all over. So no check is killed for being slow.
 */
const health: Parameters<GenericContainer['withHealthCheck']>[0] = {
  test: ['CMD', 'pg_isready', '--username=test', '--dbname=test'],
  interval: 1_000,
  timeout: 60_000,
  retries: 60,
}
