import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, before } from 'node:test'

/**
 * What becomes of the next COMMIT, or another statement, and its answer:
 * - `lost before`: it never reaches the server, which notices that the client is gone.
 * - `lost before, unnoticed`: likewise, but the server does not notice.
 * - `lost behind`: the server commits, and its answer never reaches the client.
 * - `stalled before`, `stalled behind`: likewise, but nobody notices: from then on nothing passes on
 *   that connection, in no direction.
 * - a refusal: the server commits, and a pooler between them says something else.
 */
export type CommitFate =
  | 'lost before'
  | 'lost before, unnoticed'
  | 'lost behind'
  | 'stalled before'
  | 'stalled behind'
  | Refusal

/** An answer that a pooler makes up, and whether it closes the connection or goes on. */
export interface Refusal {
  readonly severity: 'ERROR' | 'FATAL' | 'PANIC'
  readonly code: string
  readonly closes: boolean
}

/** Stands between client and server, and understands enough to meddle with a COMMIT. */
export interface WireProxy {
  /** The same database through the proxy. */
  readonly url: () => string
  /** For the next COMMIT, or the next statement that begins so, of any connection. */
  meddle(fate: CommitFate, statement?: string): void
  /** Turns new connections away, until it is called again with false. */
  refuse(refusing: boolean): void
  /** Waits until somebody has been turned away, from now on. */
  untilRefused(): Promise<void>
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
  const plans: { readonly fate: CommitFate; readonly statement: string }[] = []
  let refusing = false
  const doorman = new EventEmitter()
  let port = 0

  const server = createServer((client) => {
    if (refusing) {
      client.on('error', () => undefined).destroy()
      doorman.emit('refused')
      return
    }
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
    let stalled = false
    const requests = new Messages('untyped')
    client.on('data', (chunk) => {
      for (const message of requests.of(chunk)) {
        const planned = plans.findIndex(({ statement }) => begins(message, statement))
        const [plan] = planned < 0 ? [] : plans.splice(planned, 1)
        if (plan) {
          committing = plan.fate
          if (isLostBefore(committing)) client.destroy()
          stalled = committing === 'stalled before'
        }
        if (!client.destroyed && !stalled) upstream.write(message)
      }
    })
    const answers = new Messages('typed')
    upstream.on('data', (chunk) => {
      for (const message of answers.of(chunk)) {
        let answer = message
        if (committing && isCommandComplete(message)) {
          if (committing === 'stalled behind') stalled = true
          else if (typeof committing === 'string') client.destroy()
          else {
            answer = errorResponse(committing)
            if (committing.closes) client.end(answer)
          }
          committing = undefined
        }
        if (client.writable && !stalled) client.write(answer)
      }
    })
    client.on('close', () => {
      if (stalled || committing === 'lost before, unnoticed') halfOpen.add(upstream)
      else upstream.destroy()
    })
    upstream.on('close', () => {
      if (!stalled) client.end()
    })
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
    meddle(fate, statement = 'commit') {
      plans.push({ fate, statement })
    },
    refuse(value) {
      refusing = value
    },
    async untilRefused() {
      await once(doorman, 'refused')
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

/** A Query, or the Parse of a statement without a name. */
const begins = (message: Buffer, statement: string) =>
  /^(?:Q....|P....\0)\s*([^]*)/s.exec(message.toString('latin1'))?.[1]?.startsWith(statement) ??
  false
const isCommandComplete = (message: Buffer) => message.toString('latin1', 0, 1) === 'C'
const isLostBefore = (fate: CommitFate) =>
  fate === 'lost before' || fate === 'lost before, unnoticed'

function errorResponse({ severity, code }: Refusal): Buffer {
  const fields = { S: severity, V: severity, C: code, M: 'server conn crashed?' }
  const body = Object.entries(fields).map(([field, text]) => `${field}${text}\0`)
  const message = Buffer.from(`E\0\0\0\0${body.join('')}\0`)
  message.writeUInt32BE(message.length - 1, 1)
  return message
}
