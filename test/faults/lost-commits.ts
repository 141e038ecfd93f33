import { type Relay, startRelay } from '../../src/testing/relay.ts'

/** A way to the server on which no COMMIT is ever answered: each connection is cut in its place. */
export function loseCommits(url: string): Promise<Relay> {
  return startRelay(url, (message, link) => {
    const isCommitted = message.type === 'CommandComplete' && message.bytes.includes('COMMIT\0')
    if (isCommitted) link.cut()
    else link.pass(message)
  })
}
