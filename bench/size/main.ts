// `npm run bench:size`: what records take, in the log and in the table. `-- --quick` for fewer of them.
import { parseArgs } from 'node:util'

import { startEmbeddedServer } from '../../test/support/embedded-server.ts'
import { print } from './figure.ts'
import { fullExtent, quickExtent, run, serverSettings } from './run.ts'

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const server = await startEmbeddedServer(undefined, serverSettings)
try {
  const figures = await run(server.url, quick ? quickExtent : fullExtent)
  console.log(print(figures))
  if (figures.some(({ kept }) => kept === false)) process.exitCode = 1
} finally {
  await server.stop()
}
