import { connect, type Socket } from 'node:net'

import {
  type BackendKey,
  backendKeyOf,
  cancelRequest,
  type Direction,
  MessageReader,
  type WireMessage,
} from './messages.ts'

/** Is given each message of a connection, one after the other; what it does not pass is lost. */
export type Handler = (message: WireMessage, link: Link) => void | Promise<void>

/** One connection of a client, and the one to the server that belongs to it. */
export class Link {
  readonly closed: Promise<unknown>
  readonly #sockets: Readonly<Record<Direction, Socket>>
  readonly #target: URL
  readonly #handle: Handler
  #backend: BackendKey | undefined
  #queue: Promise<void> = Promise.resolve()
  #held: PromiseWithResolvers<undefined> | undefined
  #deaf = false

  constructor(client: Socket, target: URL, handle: Handler) {
    this.#target = target
    this.#handle = handle
    const server = connectTo(target)
    this.#sockets = { 'to client': client, 'to server': server }
    this.closed = Promise.all([client, server].map((socket) => closing(socket)))
    this.#relay(client, 'to server')
    this.#relay(server, 'to client')
  }

  /** Process of the server at the other end, once it has said so. */
  get pid(): number | undefined {
    return this.#backend?.pid
  }

  /** Whether the client has closed its side, whatever the server knows of it. */
  get isClientGone(): boolean {
    return this.#sockets['to client'].closed
  }

  /** Closes both sides, behind what has been passed so far, if they still take it. */
  cut(): void {
    for (const socket of Object.values(this.#sockets)) socket.destroySoon()
    setTimeout(() => {
      this.destroy()
    }, FLUSH_MS).unref()
  }

  /** Closes both sides at once. */
  destroy(): void {
    for (const socket of Object.values(this.#sockets)) socket.destroy()
  }

  /** Closes the client's side; the server does not notice. */
  loseClient(): void {
    this.#deaf = true
    this.#sockets['to client'].destroySoon()
  }

  /** Passes nothing any more, in no direction, and neither side notices. */
  goDeaf(): void {
    this.#deaf = true
  }

  /** Passes a message on, or something else in its place. */
  pass({ direction, bytes }: WireMessage, instead = bytes): void {
    const socket = this.#sockets[direction]
    if (!socket.writable || this.#deaf || socket.write(instead)) return
    const source = this.#sockets[direction === 'to client' ? 'to server' : 'to client']
    source.pause()
    socket.once('drain', () => source.resume())
  }

  /** Passes nothing until it is released, and then all that has come meanwhile. */
  hold(): void {
    this.#held ??= Promise.withResolvers()
  }

  /** Resolves when nothing is held, or no longer. */
  async released(): Promise<void> {
    await this.#held?.promise
  }

  /** Lets what is held go on. What has gone deaf is closed, since messages are missing. */
  release(): void {
    this.#held?.resolve(undefined)
    this.#held = undefined
    if (this.#deaf) this.cut()
  }

  /**
   * As `pg_cancel_backend` does.
   *
   * @returns whether the signal has been sent: not before there is a backend.
   */
  async cancel(): Promise<boolean> {
    if (!this.#backend) return false
    const socket = connectTo(this.#target)
    const closed = closing(socket)
    socket.resume().end(cancelRequest(this.#backend))
    await closed
    return !socket.errored
  }

  #relay(from: Socket, direction: Direction): void {
    const to = this.#sockets[direction]
    const reader = new MessageReader(direction)
    const inTurn = (step: () => Promise<void> | void) => {
      this.#queue = this.#queue.then(step).catch(() => {
        this.cut()
      })
    }
    from.on('data', (chunk) => {
      try {
        for (const message of reader.read(chunk)) inTurn(() => this.#take(message))
      } catch {
        // Whoever speaks another protocol.
        this.destroy()
      }
    })
    from.on('close', () => {
      inTurn(async () => {
        await this.released()
        if (!this.#deaf) to.destroySoon()
      })
    })
  }

  async #take(message: WireMessage): Promise<void> {
    await this.released()
    if (this.#deaf) return
    if (message.type === 'SSLRequest' || message.type === 'GSSENCRequest') {
      // In what is encrypted nothing could be told apart.
      this.#sockets['to client'].write('N')
      return
    }
    this.#backend ??= backendKeyOf(message)
    if (message.type === 'CancelRequest') this.pass(message)
    else await this.#handle(message, this)
  }
}

/** For the last messages before a link is cut; a peer that reads nothing is not waited for. */
const FLUSH_MS = 1_000

function connectTo({ hostname, port }: URL): Socket {
  // A URL has an address of IPv6 in brackets.
  return connect(Number(port || 5432), hostname.replace(/^\[|\]$/g, ''))
}

function closing(socket: Socket): Promise<unknown> {
  // Messages are written one by one, and none is to wait for the next.
  socket.setNoDelay(true).unref()
  socket.on('error', () => undefined)
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve))
}
