export { idempotent, type IdempotentHono } from './http/hono.ts'
export type { ContextLike } from './http/hono-request.ts'
export type { HttpCall, HttpContext } from './http/call.ts'
export type { EndpointOptions, Principal } from './http/options.ts'
