import { toJsonValue } from '../json-value.ts'

/** No JSON text is empty, so nothing at all stands for undefined. */
const UNDEFINED = ''

/** A response in the form in which it is stored, and as everybody is given it. */
interface EncodedResponse {
  readonly bytes: Buffer
  /** As a replay will return it: the first caller gets the stored form too. */
  readonly value: unknown
}

/**
 * Encodes what a business function returned.
 *
 * @throws OncelyError `not_json` with the path.
 */
export function encodeResponse(returned: unknown): EncodedResponse {
  const text = returned === undefined ? UNDEFINED : JSON.stringify(toJsonValue(returned, 'content'))
  return { bytes: Buffer.from(text), value: decodeText(text) }
}

/** Decodes a stored response. */
export function decodeResponse(bytes: Uint8Array): unknown {
  return decodeText(Buffer.from(bytes).toString())
}

function decodeText(text: string): unknown {
  return text === UNDEFINED ? undefined : (JSON.parse(text) as unknown)
}
