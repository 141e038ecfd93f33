import { besides, EXPOSE } from './announce.ts'
import type { HttpAnswer } from './answer.ts'

/** What is used of a Socket of Node. */
export interface SocketLike {
  /** As of a Socket. */
  readonly destroyed: boolean
  /** As of a Socket. */
  readonly readableEnded: boolean
  /** As of a Socket. */
  readonly errored: Error | null
}

/** What is used of a ServerResponse of Node. */
export interface ResponseLike {
  /** As of a ServerResponse. */
  statusCode: number
  /** As of a ServerResponse. */
  statusMessage: string
  /** As of a ServerResponse. */
  readonly headersSent: boolean
  /** As of a ServerResponse. */
  readonly socket: SocketLike | null
  /** As of a ServerResponse. */
  destroy(...given: unknown[]): unknown
  /** As of every emitter of events. */
  emit(event: string, ...given: unknown[]): boolean
  /** As of a ServerResponse. */
  getHeaders(): Readonly<Record<string, number | string | readonly string[] | undefined>>
  /** As of a ServerResponse. */
  setHeader(name: string, value: number | string | readonly string[]): unknown
  /** As of a ServerResponse. */
  removeHeader(name: string): void
  /** As of a ServerResponse. */
  writeHead(status: number): unknown
  /** As of a ServerResponse. */
  end(chunk?: unknown, called?: () => void): unknown
}

/** Sends a whole answer, unless somebody has answered meanwhile, such as by a limit on time. */
export function send(response: ResponseLike, { status, headers, body }: HttpAnswer): void {
  if (response.headersSent) return
  addBeside(response, headers)
  if (![204, 205, 304].includes(status)) response.setHeader('content-length', body.length)
  // Its head is sent at once, and not with its end, which a middleware in front may put off.
  response.writeHead(status)
  response.end(body.length > 0 ? Buffer.from(body) : undefined)
}

/** Status, and the reason phrase where there is one. */
export interface StatusLine {
  readonly statusCode: number
  readonly statusMessage?: string
}

/** HTTP/2 has no reason phrase, and Node warns of whoever looks at it. */
const hasReason = (response: ResponseLike) => !('createPushResponse' in response)

export function statusOf(response: ResponseLike): StatusLine {
  const { statusCode } = response
  return hasReason(response)
    ? { statusCode, statusMessage: response.statusMessage }
    : { statusCode }
}

export function setStatus(response: ResponseLike, status: StatusLine): void {
  response.statusCode = status.statusCode
  if (hasReason(response)) response.statusMessage = status.statusMessage as string
}

/** Ours, in the place of those of middlewares in front, except that a page may read what either says. */
export function addBeside(response: ResponseLike, headers: HttpAnswer['headers']): void {
  const theirs = linesOf(response.getHeaders()).filter(([name]) => name === EXPOSE)
  addHeaders(response, besides(theirs, headers))
}

export function addHeaders(response: ResponseLike, headers: Lines): void {
  const lines = new Map<string, { name: string; values: unknown[] }>()
  for (const [name, value] of headers) {
    const line = lines.get(name.toLowerCase())
    if (line) line.values.push(value)
    else lines.set(name.toLowerCase(), { name, values: [value] })
  }
  for (const { name, values } of lines.values()) {
    // As it is, so that Node refuses what is none.
    response.setHeader(name, (values.length > 1 ? values : values[0]) as string)
  }
}

type Lines = readonly (readonly [name: string, value: unknown])[]

/** @throws TypeError for what Node does not take. */
export function bytesIn(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  if (chunk instanceof Uint8Array) return Buffer.from(chunk)
  throw Object.assign(new TypeError('a chunk must be a string, a Buffer or a Uint8Array'), {
    code: 'ERR_INVALID_ARG_TYPE',
  })
}

/** What `writeHead` takes: an object, or an array of names and values in turns or in pairs. */
export function pairsOf(headers: unknown): Lines {
  const valuesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])
  if (!Array.isArray(headers)) {
    return Object.entries(Object(headers) as object).flatMap(([name, value]) =>
      valuesOf(value).map((one) => [name, one] as const),
    )
  }
  if (Array.isArray(headers[0])) {
    return (headers as [string, unknown][]).flatMap(([name, value]) =>
      valuesOf(value).map((one) => [name, one] as const),
    )
  }
  return headers.flatMap((name, place) =>
    place % 2 === 0 ? [[String(name), headers[place + 1]] as const] : [],
  )
}

export function linesOf(headers: ReturnType<ResponseLike['getHeaders']>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? (value as string[]) : value === undefined ? [] : [value]
    return values.map((one): [string, string] => [name, String(one)])
  })
}
