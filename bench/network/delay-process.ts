// A process of its own between clients and the server: it must not take the event loop of those it
// measures. Passes every chunk on in the order in which it came, DELAY milliseconds later.
import { connect, createServer, type Socket } from 'node:net'

const [host = '127.0.0.1', port = '5432', delay = '0.5'] = process.argv.slice(2)
const delayMs = Number(delay)

interface Waiting {
  readonly at: number
  readonly go: () => void
}

/** One queue for all: the delay is the same for all, so that the first is the first due. */
const queue: Waiting[] = []
let first = 0
let spinning = false

/** A timer is only good to a millisecond, so it looks again and again while something is under way. */
function spin(): void {
  const now = performance.now()
  for (let next = queue[first]; next && next.at <= now; next = queue[first]) {
    first += 1
    next.go()
  }
  if (first < queue.length) {
    setImmediate(spin)
    return
  }
  queue.length = 0
  first = 0
  spinning = false
}

function later(go: () => void): void {
  queue.push({ at: performance.now() + delayMs, go })
  if (spinning) return
  spinning = true
  setImmediate(spin)
}

function pass(from: Socket, to: Socket): void {
  from.setNoDelay(true)
  from.on('data', (chunk) => {
    later(() => to.write(chunk))
  })
  from.on('end', () => {
    later(() => to.end())
  })
  from.on('error', () => to.destroy())
}

const server = createServer({ allowHalfOpen: true }, (client) => {
  const upstream = connect({ host, port: Number(port), allowHalfOpen: true })
  pass(client, upstream)
  pass(upstream, client)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : undefined)
})
// Whoever started it is gone.
process.on('disconnect', () => process.exit())
