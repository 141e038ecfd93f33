// `npm run bench:turns`: how often a call waits for the server, counted between client and server.
import { startEmbeddedServer } from '../../test/support/embedded-server.ts'
import { print, run } from './run.ts'

const server = await startEmbeddedServer()
try {
  const figures = await run(server.url)
  console.log(print(figures))
  if (figures.some(({ kept }) => kept === false)) process.exitCode = 1
} finally {
  await server.stop()
}
