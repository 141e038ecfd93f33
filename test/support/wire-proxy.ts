import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, before } from 'node:test'

/**
 * What becomes of the next COMMIT and its answer:
 * - `lost before`: it never reaches the server, which notices that the client is gone.
 * - `lost before, unnoticed`: likewise, but the server does not notice.
 * - `lost behind`: the server commits, and its answer never reaches the client.
 * - a refusal: the server commits, and a pooler between them says something else.
 */
export type CommitFate = 'lost before' | 'lost before, unnoticed' | 'lost behind' | Refusal

/** An answer that a pooler makes up, and whether it closes the connection or goes on. */
export interface Refusal {
  readonly severity: 'ERROR' | 'FATAL'
  readonly code: string
  readonly closes: boolean
}

/** Stands between client and server, and understands enough to meddle with a COMMIT. */
export interface WireProxy {
  /** The same database through the proxy. */
  readonly url: () => string
  /** For the next COMMIT of any connection. */
  meddle(fate: CommitFate): void
  /** Lets the server notice that the clients are gone which it believes to be there. */
  notice(): void
  /** Cuts every connection there is, on both sides. */
  cut(): void
}

/** To be called at the top of a test file. */
export function wireProxy(url: string): WireProxy {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const halfOpen = new Set<Socket>()
  let fate: CommitFate | undefined
  let port = 0

  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname)
    for (const socket of [client, upstream]) {
      // Messages are written one by one, and none is to wait for the next.
      socket.setNoDelay(true)
      // What a failed test leaves open is not to keep its process alive.
      socket.unref()
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => undefined)
    }
    let committing: CommitFate | undefined
    const requests = new Messages('untyped')
    client.on('data', (chunk) => {
      for (const message of requests.of(chunk)) {
        if (fate && isCommit(message)) {
          committing = fate
          fate = undefined
          if (isLostBefore(committing)) client.destroy()
        }
        if (!client.destroyed) upstream.write(message)
      }
    })
    const answers = new Messages('typed')
    upstream.on('data', (chunk) => {
      for (const message of answers.of(chunk)) {
        let answer = message
        if (committing && isCommandComplete(message)) {
          if (typeof committing === 'string') client.destroy()
          else {
            answer = errorResponse(committing)
            if (committing.closes) client.end(answer)
          }
          committing = undefined
        }
        if (client.writable) client.write(answer)
      }
    })
    client.on('close', () => {
      if (committing === 'lost before, unnoticed') halfOpen.add(upstream)
      else upstream.destroy()
    })
    upstream.on('close', () => client.end())
  })

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  before(async () => {
    server.unref().listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as { port: number }).port
  })
  after(() => {
    cut()
    server.close()
  })
  return {
    url: () => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    meddle(next) {
      fate = next
    },
    notice() {
      for (const socket of halfOpen) socket.destroy()
    },
    cut,
  }
}

/** Cuts a stream into the messages of the protocol; a client's first one has no type. */
class Messages {
  #rest: Buffer = Buffer.alloc(0)
  #lengthAt: 0 | 1

  constructor(first: 'typed' | 'untyped') {
    this.#lengthAt = first === 'typed' ? 1 : 0
  }

  *of(chunk: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= this.#lengthAt + 4) {
      const size = this.#lengthAt + this.#rest.readUInt32BE(this.#lengthAt)
      if (this.#rest.length < size) return
      yield this.#rest.subarray(0, size)
      this.#rest = this.#rest.subarray(size)
      this.#lengthAt = 1
    }
  }
}

const isCommit = (message: Buffer) => /^Q....commit\0$/is.test(message.toString('latin1'))
const isCommandComplete = (message: Buffer) => message.toString('latin1', 0, 1) === 'C'
const isLostBefore = (fate: CommitFate) => typeof fate === 'string' && fate !== 'lost behind'

function errorResponse({ severity, code }: Refusal): Buffer {
  const fields = { S: severity, V: severity, C: code, M: 'server conn crashed?' }
  const body = Object.entries(fields).map(([field, text]) => `${field}${text}\0`)
  const message = Buffer.from(`E\0\0\0\0${body.join('')}\0`)
  message.writeUInt32BE(message.length - 1, 1)
  return message
}
