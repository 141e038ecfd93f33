/** Which way a message goes. */
export type Direction = 'to server' | 'to client'

/**
 * One message of PostgreSQL's protocol
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */
export interface SeenMessage {
  /** Who is to get it. */
  readonly direction: Direction
  /** Name of its type, such as `Parse` or `CommandComplete`; its letter where it has no name here. */
  readonly type: string
  /** Of a Query or a Parse. */
  readonly statement?: string | undefined
}

/** The same with all of it, its type and its length included. */
export interface WireMessage extends SeenMessage {
  readonly bytes: Buffer
}

/** A letter and a length; a message without a letter is longer. */
const HEAD = 5
/** What PostgreSQL takes of a client that is not authenticated. */
const MAX_START_UP = 10_000

/** Cuts a stream into messages, one after the other, however the network has packed them. */
export class MessageReader {
  readonly #direction: Direction
  // Put together once a message is whole: one of many chunks would be copied for each of them.
  #chunks: Buffer[] = []
  #length = 0
  #wanted = HEAD
  #startingUp: boolean

  constructor(direction: Direction) {
    this.#direction = direction
    // A client's first messages have no letter, until one of them starts a session.
    this.#startingUp = direction === 'to server'
  }

  /** @throws for what is no such protocol. */
  *read(chunk: Buffer): Generator<WireMessage> {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    while (this.#length >= this.#wanted) {
      const bytes = Buffer.concat(this.#chunks)
      const size = this.#sizeOf(bytes)
      this.#chunks = [bytes]
      this.#wanted = size
      if (bytes.length < size) return
      this.#chunks = [bytes.subarray(size)]
      this.#length -= size
      this.#wanted = HEAD
      yield this.#message(bytes.subarray(0, size))
    }
  }

  #sizeOf(bytes: Buffer): number {
    const lengthAt = this.#startingUp ? 0 : 1
    const length = bytes.readUInt32BE(lengthAt)
    const [least, most] = this.#startingUp ? [8, MAX_START_UP] : [4, Infinity]
    if (length < least || length > most) throw new Error('not the protocol of PostgreSQL')
    return lengthAt + length
  }

  #message(bytes: Buffer): WireMessage {
    const type = this.#startingUp ? startUpType(bytes) : this.#typeOf(bytes)
    this.#startingUp &&= type !== 'StartupMessage'
    return { direction: this.#direction, type, bytes }
  }

  #typeOf(bytes: Buffer): string {
    const letter = bytes.toString('latin1', 0, 1)
    const names = this.#direction === 'to server' ? frontend : backend
    return names[letter] ?? letter
  }
}

/** The statement of a Query or a Parse, without leading space. */
export function statementOf({ type, bytes }: WireMessage): string | undefined {
  if (type !== 'Query' && type !== 'Parse') return undefined
  // A Parse has the name of the statement first.
  const from = type === 'Query' ? 5 : bytes.indexOf(0, 5) + 1
  return bytes.toString('utf8', from, bytes.indexOf(0, from)).trimStart()
}

/** What a backend is cancelled by: its process and a secret. */
export interface BackendKey {
  readonly pid: number
  readonly bytes: Buffer
}

/** As the server tells a client at the start of its session. */
export function backendKeyOf({ type, bytes }: WireMessage): BackendKey | undefined {
  return type === 'BackendKeyData'
    ? { pid: bytes.readInt32BE(5), bytes: bytes.subarray(5) }
    : undefined
}

export function cancelRequest({ bytes }: BackendKey): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + bytes.length, 0)
  head.writeInt32BE(CANCEL, 4)
  return Buffer.concat([head, bytes])
}

const CANCEL = 80_877_102
const startUpTypes: Readonly<Record<number, string>> = {
  [CANCEL]: 'CancelRequest',
  80_877_103: 'SSLRequest',
  80_877_104: 'GSSENCRequest',
}
const startUpType = (bytes: Buffer) => startUpTypes[bytes.readInt32BE(4)] ?? 'StartupMessage'

const frontend: Readonly<Record<string, string>> = {
  B: 'Bind',
  C: 'Close',
  D: 'Describe',
  E: 'Execute',
  H: 'Flush',
  P: 'Parse',
  Q: 'Query',
  S: 'Sync',
  X: 'Terminate',
  p: 'Password',
}

const backend: Readonly<Record<string, string>> = {
  1: 'ParseComplete',
  2: 'BindComplete',
  3: 'CloseComplete',
  C: 'CommandComplete',
  D: 'DataRow',
  E: 'ErrorResponse',
  I: 'EmptyQueryResponse',
  K: 'BackendKeyData',
  N: 'NoticeResponse',
  R: 'Authentication',
  S: 'ParameterStatus',
  T: 'RowDescription',
  Z: 'ReadyForQuery',
  n: 'NoData',
  s: 'PortalSuspended',
  t: 'ParameterDescription',
}
