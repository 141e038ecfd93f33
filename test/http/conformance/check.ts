import type { Idempotency } from 'oncely'

import type { NotesDatabase } from '../../support/notes-host.ts'
import type { Adapter, Feature, Handler, RouteOptions, Server, ServerOptions } from './server.ts'

/** What a check works with. */
export interface Ground {
  readonly adapter: Adapter
  readonly idempotency: Idempotency<NotesDatabase>
  /** A key that no other check uses. */
  readonly key: (name: string) => string
  /** How many notes were written under a key. */
  readonly notes: (key: string) => Promise<number>
  /** Starts a server, which is closed when the check is over. */
  readonly serve: (
    handler: Handler,
    more?: RouteOptions &
      Pick<ServerOptions, 'parser' | 'onError'> &
      Partial<Pick<ServerOptions, 'idempotency'>>,
  ) => Promise<Server>
}

/** One promise of an endpoint, kept by every adapter. */
export interface Check {
  readonly name: string
  /** What it needs of the framework. */
  readonly needs?: Feature
  readonly run: (ground: Ground) => Promise<void>
}

/** An answer as it has come over the wire. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly bytes: Uint8Array
}

interface Sent extends RequestInit {
  /** As the header is written. */
  readonly key?: string
  readonly type?: string
  readonly path?: string
}

/** Sends a request, by POST with JSON unless it says otherwise. */
export async function send(server: Server, sent: Sent = {}): Promise<Seen> {
  const { key, type = 'application/json', path = '/things/1', headers, ...init } = sent
  const all = new Headers(headers)
  if (key !== undefined) all.set('idempotency-key', key)
  if (type !== '') all.set('content-type', type)
  const response = await fetch(server.url + path, { method: 'POST', ...init, headers: all })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const text = Buffer.from(bytes).toString()
  return { status: response.status, headers: response.headers, text, bytes }
}

/** The same by the key alone, and content. */
export function post(server: Server, key: string, body: unknown = { sku: 'A' }, more: Sent = {}) {
  return send(server, { key: `"${key}"`, body: JSON.stringify(body), ...more })
}

/** What a refusal says of itself. */
export function problemOf({ headers, text }: Seen): Record<string, unknown> {
  if (headers.get('content-type') !== 'application/problem+json') return {}
  return JSON.parse(text) as Record<string, unknown>
}

export const statusAndCode = (seen: Seen) => [seen.status, problemOf(seen)['code']]

export const isReplayed = ({ headers }: Seen) => headers.get('idempotent-replayed') === 'true'

/** Writes a note under the key, and answers. */
export function writing(
  answer: Awaited<ReturnType<Handler>> = { status: 201, body: 'made' },
): Handler {
  return async ({ call }) => {
    await write(call)
    return answer
  }
}

let bodies = 0

export async function write({ tx, context }: Parameters<Handler>[0]['call']): Promise<void> {
  bodies += 1
  await tx
    .insertInto('notes')
    .values({ key: context.key, body: `${bodies}` })
    .execute()
}
