import { type EmbeddedServer, startEmbeddedServer } from './embedded-server.ts'

/**
 * Starts a server of a test file's own, to be treated badly: of the major that the matrix is at, whose
 * binaries it names by `ONCELY_TEST_SERVER_BINARIES`, and else of the project's own.
 */
export function startOwnServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedServer> {
  return startEmbeddedServer(process.env['ONCELY_TEST_SERVER_BINARIES'], settings)
}
