import { OncelyError } from '../errors.ts'
import type { EncodedHttp, HttpHead } from '../response/codec.ts'
import { endToEnd } from './stored-headers.ts'

/** A whole response, as an adapter has taken it from a handler or sends it. */
export interface HttpAnswer extends HttpHead {
  readonly body: Uint8Array
}

/** As an answer is stored, and as it comes back. */
export function encodeAnswer(answer: HttpAnswer, isStored: (name: string) => boolean): EncodedHttp {
  const headers = answer.headers.filter(([name]) => isStored(name.toLowerCase()))
  return { bytes: answer.body, status: answer.status, headers }
}

/** @param head - none of a record that was stored by a call without HTTP: its value is JSON. */
export function decodeAnswer(bytes: Uint8Array, head: HttpHead | undefined): HttpAnswer {
  const { status, headers } = head ?? {
    status: bytes.length > 0 ? 200 : 204,
    headers: bytes.length > 0 ? ([['content-type', 'application/json']] as const) : [],
  }
  const answer = { status, headers, body: bytes }
  decoded.add(answer)
  return answer
}

const decoded = new WeakSet<object>()

/** Whether it is what was stored of a handler. */
export function isAnswer(value: unknown): value is HttpAnswer {
  return typeof value === 'object' && value !== null && decoded.has(value)
}

/** The values of a header, in their order. */
export function valuesOf({ headers }: HttpHead, name: string): readonly string[] {
  return headers.flatMap(([other, value]) => (other.toLowerCase() === name ? [value] : []))
}

/**
 * Of a Response of the web, whose body is read to its end.
 *
 * @throws OncelyError `response_too_large` for one that is longer than the limit.
 */
export async function answerOf(response: Response, limit: number): Promise<HttpAnswer> {
  const headers = endToEnd([...response.headers])
  const body = await bytesOf(response.body, limit)
  if (!body) throw tooLarge(limit)
  return { status: response.status, headers, body }
}

export function tooLarge(limit: number): OncelyError {
  return new OncelyError('response_too_large', `the answer has more than ${limit} bytes`)
}

/** Of an answer, a Response of the web. */
export function responseOf({ status, headers, body }: HttpAnswer): Response {
  const isEmpty = body.length === 0 || [204, 205, 304].includes(status)
  const lines = headers.map(([name, value]): [string, string] => [name, value])
  return new Response(isEmpty ? null : Uint8Array.from(body), { status, headers: lines })
}

/** @returns undefined where a stream has more than that many octets; it is then read no further. */
export async function bytesOf(
  stream: AsyncIterable<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream ?? []) {
    length += chunk.length
    if (length > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
