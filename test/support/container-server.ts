import { OncelyError } from '../../src/errors.ts'
import type { DatabaseServer } from './database-server.ts'

/** Starts `postgres:18` in a container, on whatever Docker engine testcontainers finds. */
export async function startContainerServer(): Promise<DatabaseServer> {
  // Loaded only when asked for: it looks for an engine and takes a while to import.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  const container = await new PostgreSqlContainer('postgres:18')
    .withCommand(['postgres', '-c', 'max_connections=400', '-c', 'fsync=off'])
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
