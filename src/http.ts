export { type FetchHandler, idempotent, type IdempotentFetch } from './http/fetch.ts'
export type { HttpCall, HttpContext } from './http/call.ts'
export type { EndpointOptions, Principal } from './http/options.ts'
export type { RefusalCode } from './http/refusal.ts'
