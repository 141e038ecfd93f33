import type { FaultKind } from 'oncely/testing'

import { startEmbeddedServer } from '../support/embedded-server.ts'
import { type Ground, makeGround } from './ground.ts'

/** A server that the fault crashes and starts again, whose WAL reaches the disk at a commit alone. */
export async function crashingGround(): Promise<{
  readonly ground: Ground
  readonly crash: FaultKind
}> {
  const server = await startEmbeddedServer(undefined, { wal_writer_delay: '10s' })
  // A look at it is not to meet a connection that was there before the crash.
  const ground = await makeGround(server.url, 'crashed', { max: 4, maxUses: 1 })
  return {
    crash: {
      name: 'crash',
      async act() {
        await server.crash()
        await server.startAgain()
      },
    },
    ground: { ...ground, close: () => server.stop() },
  }
}
