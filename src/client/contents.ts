import { invalid } from '../checks.ts'

type Body = NonNullable<RequestInit['body']>

/** A Blob or a File, URLSearchParams, and a FormData, of whatever implementation. */
interface BlobLike {
  readonly type: string
  readonly name?: string
  arrayBuffer(): Promise<ArrayBuffer>
}
interface TextLike {
  toString(): string
}
interface FormLike {
  entries(): Iterable<[string, unknown]>
}

/**
 * A content that can be sent as often as it takes. What is of another realm, or of another implementation, becomes
 * what this platform knows: it would send the text `[object FormData]` otherwise.
 *
 * @throws OncelyError `invalid_options` of anything else.
 */
export async function repeatableContent(body: unknown): Promise<Body | undefined> {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return body
  if (ArrayBuffer.isView(body)) return body as Uint8Array<ArrayBuffer>
  switch (Object.prototype.toString.call(body).slice(8, -1)) {
    case 'ArrayBuffer':
      return new Uint8Array(body as ArrayBuffer)
    case 'URLSearchParams':
      return new URLSearchParams((body as TextLike).toString())
    case 'Blob':
    case 'File':
      if (isBlob(body)) return blobOf(body)
      break
    case 'FormData':
      // Not so the one of the package `form-data`, which is a stream.
      if (typeof (body as FormLike).entries === 'function') return formOf(body as FormLike)
  }
  if (isStream(body)) {
    throw invalid('the content is a stream, which can be sent once: read it into a Blob before')
  }
  throw invalid(
    'the content must be a string, a Blob, a FormData, URLSearchParams or octets: JSON.stringify an object',
  )
}

async function blobOf(blob: BlobLike): Promise<Blob> {
  return blob instanceof Blob ? blob : new Blob([await blob.arrayBuffer()], { type: blob.type })
}

async function formOf(form: FormLike): Promise<FormData> {
  if (form instanceof FormData) return form
  const ours = new FormData()
  for (const [name, value] of form.entries()) {
    if (isBlob(value)) ours.append(name, await blobOf(value), value.name)
    else ours.append(name, String(value))
  }
  return ours
}

function isBlob(value: unknown): value is BlobLike {
  return typeof (Object(value) as Partial<BlobLike>).arrayBuffer === 'function'
}

function isStream(body: unknown): boolean {
  const { getReader, pipe } = Object(body) as { getReader?: unknown; pipe?: unknown }
  return (
    [getReader, pipe].some((read) => typeof read === 'function') ||
    Symbol.asyncIterator in Object(body)
  )
}
