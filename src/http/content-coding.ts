import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

import { OncelyError } from '../errors.ts'
import { type HttpAnswer, tooLarge, valuesOf } from './answer.ts'

type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

/** By their names in IANA's registry (RFC 9110, section 8.4.1; RFC 8878 for zstd). */
const decoders: Readonly<Record<string, Decode | undefined>> = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  br: promisify(zlib.brotliDecompress),
  // Node has it since 22.15.
  zstd: 'zstdDecompress' in zlib ? promisify(zlib.zstdDecompress) : undefined,
}

/**
 * An answer as it was before it was compressed for its caller: others may not take it so.
 *
 * @throws OncelyError `invalid_response`; `response_too_large` for one that has more octets than the limit then.
 */
export async function withoutCoding(answer: HttpAnswer, limit: number): Promise<HttpAnswer> {
  const codings = valuesOf(answer, 'content-encoding')
    .flatMap((line) => line.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  let { body } = answer
  // The last one was applied last.
  for (const coding of codings.reverse()) body = await decoded(body, coding, limit)
  return { ...answer, body }
}

async function decoded(body: Uint8Array, coding: string, limit: number): Promise<Uint8Array> {
  const decode = decoders[coding]
  if (!decode) {
    throw new OncelyError('invalid_response', `nobody here knows the content coding '${coding}'`)
  }
  if (body.length === 0) return body
  try {
    return await decode(body, { maxOutputLength: limit })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw new OncelyError('invalid_response', `the answer is not ${coding}, as it says`, { cause })
  }
}
