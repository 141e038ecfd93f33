// `npm run bench:memory`: what a call holds while it is in flight, and whether anything is left of it.
// `-- --quick` for fewer calls.
import { parseArgs } from 'node:util'

import { startEmbeddedServer } from '../../test/support/embedded-server.ts'
import { print } from './print.ts'
import { fullSize, quickSize, run } from './run.ts'

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const size = quick ? quickSize : fullSize
const server = await startEmbeddedServer()
try {
  const figures = await run(server.url, size)
  console.log(print(figures, size))
  if (figures.some(({ kept }) => kept === false)) process.exitCode = 1
} finally {
  await server.stop()
}
