import { expressAdapter } from './adapters/express.ts'
import { fastifyAdapter } from './adapters/fastify.ts'
import { fetchAdapter } from './adapters/fetch.ts'
import { honoAdapter } from './adapters/hono.ts'
import { nodeAdapter } from './adapters/node.ts'
import { nestOnExpress, nestOnFastify } from './adapters/nest.ts'
import type { Adapter } from './server.ts'

export const adapters: readonly Adapter[] = [
  ...[fetchAdapter, nodeAdapter, honoAdapter],
  ...[expressAdapter, fastifyAdapter],
  ...[nestOnExpress, nestOnFastify],
]
