import { once } from 'node:events'
import { createServer } from 'node:net'

import { type Handler, Link } from './link.ts'

/** Stands between clients and a server, on a loopback port of its own. */
export interface Relay {
  /** The same database through the relay. */
  readonly url: string
  readonly links: ReadonlySet<Link>
  /** Turns new connections away while it is set. */
  refusing: boolean
  close(): Promise<void>
}

/** @param handle - sees everything but what comes before a session, such as the question for TLS. */
export async function startRelay(
  url: string,
  handle: Handler,
  onRefused: () => void = () => undefined,
): Promise<Relay> {
  const target = new URL(url)
  const links = new Set<Link>()
  const server = createServer((client) => {
    if (relay.refusing) {
      client.on('error', () => undefined).destroy()
      onRefused()
      return
    }
    const link = new Link(client, target, handle)
    links.add(link)
    void link.closed.then(() => links.delete(link))
  })
  // What a failed test leaves open is not to keep its process alive.
  server.unref().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const relay = {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    links,
    refusing: false,
    async close() {
      server.close()
      const closing = [...links].map((link) => {
        link.destroy()
        return link.closed
      })
      await Promise.all(closing)
    },
  }
  return relay
}
