export { OncelyModule, type OncelyModuleAsyncOptions } from './http/nest-module.ts'
export {
  Idempotent,
  IdempotentLookup,
  type IdempotentOptions,
  type OncelyModuleOptions,
} from './http/nest-route.ts'
export { IdempotentCall } from './http/nest-call.ts'
export type { DynamicModuleLike, ModuleLike, ProviderLike } from './http/nest-like.ts'
export type { HttpCall, HttpContext } from './http/call.ts'
export type { EndpointOptions, Principal } from './http/options.ts'
