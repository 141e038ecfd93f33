import type { ResponseLike } from './response-like.ts'

/** What changes the headers. */
export const changesHead = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'] as const

/** Whoever has put off the end of the answer, such as a middleware in front, has what Node sends it by. */
export function silence(response: ResponseLike): void {
  const nothing = { configurable: true, writable: true, value: () => response }
  for (const name of [...changesHead, 'writeHead', 'flushHeaders', 'write', 'end', 'render']) {
    Object.defineProperty(response, name, nothing)
  }
}

/**
 * Lets a handler go on to no effect, as it has been answered for. It would otherwise be told that it
 * cannot answer any more, by an error for which a framework cuts the connection.
 */
export function bury(response: ResponseLike): void {
  silence(response)
  Object.defineProperty(response, 'headersSent', { configurable: true, value: false })
}
