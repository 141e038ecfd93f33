import { OncelyError } from '../errors.ts'
import { toJsonValue } from '../json-value.ts'

/**
 * How responses and refusals are written and read. Whatever a codec leaves out, such as a secret that
 * is shown once, is given to nobody: the first caller gets what was written and read again, too. May
 * be asynchronous, but runs while the key is held: no remote call.
 */
export interface Codec<Keeps extends 'json' | 'types' | 'nothing' = 'json' | 'types' | 'nothing'> {
  /**
   * What becomes of the types of values: as in `json`, where a Date is a string; they stay as they are,
   * `types`; or nobody can tell, `nothing`, such as where something is left out. For the compiler alone.
   */
  readonly keeps: Keeps
  /** Writes a value. What it throws is thrown on, and everything is rolled back. */
  readonly encode: (value: unknown) => Uint8Array | EncodedHttp | Promise<Uint8Array | EncodedHttp>
  /** Reads what `encode` wrote, now or years ago. */
  readonly decode: (bytes: Uint8Array, head?: HttpHead) => unknown
}

/** What is stored of an HTTP response beside its content, in columns of their own. */
export interface HttpHead {
  /** From 100 to 599. */
  readonly status: number
  /** Name and value of each line, in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** An HTTP response as a codec writes it. */
export interface EncodedHttp extends HttpHead {
  /** The content. */
  readonly bytes: Uint8Array
}

/** A response in the form in which it is stored, and as everybody is given it. */
interface EncodedResponse {
  readonly bytes: Buffer
  /** Of an HTTP response. */
  readonly head: HttpHead | undefined
  /** As a replay will return it: the first caller gets the stored form too. */
  readonly value: unknown
}

/** No JSON text is empty, so nothing at all stands for undefined. */
const UNDEFINED = ''

/** JSON, where what cannot be expressed is an error and not something else. */
export const jsonCodec: Codec<'json'> = {
  keeps: 'json',
  encode(value) {
    return Buffer.from(
      value === undefined ? UNDEFINED : JSON.stringify(toJsonValue(value, 'content')),
    )
  },
  decode(bytes) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
    return text === UNDEFINED ? undefined : (JSON.parse(text) as unknown)
  },
}

/**
 * Encodes what a business function returned.
 *
 * @throws OncelyError `not_json` with the path; `response_too_large`; `invalid_options` for a codec
 * that does not give bytes.
 */
export async function encodeResponse(
  returned: unknown,
  codec: Codec,
  maxResponseBytes: number,
): Promise<EncodedResponse> {
  const encoded: unknown = await codec.encode(returned)
  const { bytes: given, head } = partsOf(encoded)
  if (!(given instanceof Uint8Array)) {
    throw new OncelyError('invalid_options', 'the codec must encode to a Uint8Array')
  }
  const length = given.length + (head ? Buffer.byteLength(JSON.stringify(head.headers)) : 0)
  if (length > maxResponseBytes) {
    throw new OncelyError(
      'response_too_large',
      `the response has ${length} bytes, and maxResponseBytes is ${maxResponseBytes}`,
    )
  }
  const bytes = Buffer.from(given)
  return { bytes, head, value: await codec.decode(bytes, head) }
}

function partsOf(encoded: unknown): { bytes: unknown; head?: HttpHead } {
  if (encoded instanceof Uint8Array) return { bytes: encoded }
  const { bytes, status, headers } = Object(encoded) as EncodedHttp
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 599
  if (!isStatus || !Array.isArray(headers)) {
    throw new OncelyError(
      'invalid_options',
      'the codec must encode to a Uint8Array, or with a status and headers',
    )
  }
  return { bytes, head: { status, headers } }
}
