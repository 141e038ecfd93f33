import { startEmbeddedServer } from '../../test/support/embedded-server.ts'
import { tablesOf } from '../size/figure.ts'
import { fullExtent, quickExtent, run, serverSettings } from '../size/run.ts'
import type { Section } from './section.ts'

/** What records take, in the log and in the table, on a server that does nothing else meanwhile. */
export const size: Section = {
  name: 'size',
  id: 'size',
  fullOnly: true,
  async run(_, { quick }) {
    const server = await startEmbeddedServer(undefined, serverSettings)
    try {
      const figures = await run(server.url, quick ? quickExtent : fullExtent)
      const missed = figures.filter(({ kept }) => kept === false)
      return {
        tables: tablesOf(figures),
        missed: missed.map(({ section, name, column }) => `size, ${section}, ${name}: ${column}`),
      }
    } finally {
      await server.stop()
    }
  },
}
