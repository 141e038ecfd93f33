import { besides } from './announce.ts'
import type { HttpAnswer } from './answer.ts'

/** What is used of a ServerResponse of Node. */
export interface ResponseLike {
  /** As of a ServerResponse. */
  statusCode: number
  /** As of a ServerResponse. */
  statusMessage: string
  /** As of a ServerResponse. */
  readonly headersSent: boolean
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
  response.statusCode = status
  addBeside(response, headers)
  response.end(body.length > 0 ? Buffer.from(body) : undefined)
}

/** In the place of those of middlewares in front. */
export function addBeside(response: ResponseLike, headers: HttpAnswer['headers']): void {
  addHeaders(response, besides(linesOf(response.getHeaders()), headers))
}

export function addHeaders(response: ResponseLike, headers: HttpAnswer['headers']): void {
  const lines = new Map<string, string[]>()
  for (const [name, value] of headers) lines.set(name, [...(lines.get(name) ?? []), value])
  for (const [name, values] of lines) {
    response.setHeader(name, values.length > 1 ? values : String(values[0]))
  }
}

export function bytesIn(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk as Uint8Array)
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
}

/** What `writeHead` takes: an object, or an array of names and values in turns or in pairs. */
export function pairsOf(headers: unknown): HttpAnswer['headers'] {
  const texts = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String)
  if (!Array.isArray(headers)) {
    return Object.entries(Object(headers) as object).flatMap(([name, value]) =>
      texts(value).map((text) => [name, text] as const),
    )
  }
  if (Array.isArray(headers[0])) {
    return (headers as [string, unknown][]).flatMap(([name, value]) =>
      texts(value).map((text) => [name, text] as const),
    )
  }
  return headers.flatMap((name, place) =>
    place % 2 === 0 ? [[String(name), String(headers[place + 1])] as const] : [],
  )
}

export function linesOf(headers: ReturnType<ResponseLike['getHeaders']>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? (value as string[]) : value === undefined ? [] : [value]
    return values.map((one): [string, string] => [name, String(one)])
  })
}
