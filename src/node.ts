export {
  idempotent,
  type IdempotentNode,
  type NodeListener,
  type NodeOptions,
} from './http/node.ts'
export type { RequestLike } from './http/node-request.ts'
export type { ResponseLike, SocketLike } from './http/response-like.ts'
export type { HttpCall, HttpContext } from './http/call.ts'
export type { EndpointOptions, Principal } from './http/options.ts'
