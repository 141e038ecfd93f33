// That a route is typed as without us, and its transaction as the host's tables are. The compiler is the test.
import { strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { DynamicModule, ModuleMetadata } from '@nestjs/common'
import { expectTypeOf } from 'expect-type'
import express, { type NextFunction, type Request, type Response } from 'express'
import fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import { validator } from 'hono/validator'
import type { Kysely, Transaction } from 'kysely'
import { createIdempotency, fingerprint, type Idempotency } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import { idempotent as onFastify } from 'oncely/fastify'
import { idempotent as onHono } from 'oncely/hono'
import { Idempotent, type IdempotentCall, OncelyModule } from 'oncely/nestjs'

import { testDatabase } from '../support/database.ts'
import type { NotesDatabase } from '../support/notes-host.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect<NotesDatabase>())
const tenant = 't1'

interface Env {
  Variables: { user: string }
}

describe('the types of a route', () => {
  it('on Express leave its handlers what they know of the path', () => {
    const once = onExpress(idempotency, {
      operation: 'things.make',
      principal: (request: Request) => ({ tenant, actor: String(request.get('x-user-id')) }),
    })
    const app = express()
    app.post('/things/:id', once, (request, response) => {
      expectTypeOf(request.params.id).toEqualTypeOf<string>()
      expectTypeOf(once.of(request).tx).toEqualTypeOf<Transaction<NotesDatabase>>()
      response.end()
    })
    const handler = (request: Request, response: Response, next: NextFunction) => {
      response.end(once.find(request)?.context.key, next)
    }
    app.post('/things', once, handler, once.onError)
    app.get('/things', once.lookup)
    strictEqual(typeof app, 'function')
  })

  it('on Hono leave its handlers what a validator in front has found', () => {
    const once = onHono(idempotency, {
      operation: 'things.make',
      principal: (c: Context<Env>) => ({ tenant, actor: c.get('user') }),
    })
    const parsed = validator('json', (value) => ({ sku: String(value) }))
    const app = new Hono<Env>()
      .post('/things', parsed, once, (c) => {
        expectTypeOf(c.req.valid('json')).toEqualTypeOf<{ sku: string }>()
        expectTypeOf(once.of(c).tx).toEqualTypeOf<Transaction<NotesDatabase>>()
        return c.text('made')
      })
      .post('/others', once, parsed, (c) => c.json(c.req.valid('json')))
      .get('/things', once.lookup)
    strictEqual(typeof app.fetch, 'function')
  })

  it('on Fastify leave its handler what a schema and its route have said', () => {
    const once = onFastify(idempotency, {
      operation: 'things.make',
      principal: (request: FastifyRequest) => ({
        tenant,
        actor: String(request.headers['x-user-id']),
      }),
    })
    const app = fastify()
    app.post<{ Body: { sku: string }; Params: { id: string } }>(
      '/things/:id',
      {
        preHandler: [
          (_request, _reply, done: () => void) => {
            done()
          },
          once,
        ],
      },
      (request, reply) => {
        expectTypeOf(request.body).toEqualTypeOf<{ sku: string }>()
        expectTypeOf(once.of(request).tx).toEqualTypeOf<Transaction<NotesDatabase>>()
        return reply.send(request.params.id)
      },
    )
    app.route({ method: 'POST', url: '/others', preHandler: once, handler: () => 'made' })
    app.get('/things', once.lookup)
    strictEqual(typeof app.listen, 'function')
  })

  it('on NestJS are those of the module, and of what is injected', () => {
    interface HostRequest {
      readonly user: string
    }
    const principal = ({ user }: HostRequest) => ({ tenant, actor: user })
    const imports: NonNullable<ModuleMetadata['imports']> = [
      OncelyModule.forRoot({ idempotency, principal, finalStatuses: 'business' }),
      OncelyModule.forRootAsync({
        inject: ['DATABASE'],
        useFactory: (db: Kysely<NotesDatabase>) => ({
          idempotency: createIdempotency(db),
          principal,
        }),
      }),
    ]
    const module: DynamicModule = OncelyModule.forRoot({ idempotency, principal })
    expectTypeOf<IdempotentCall<NotesDatabase>['tx']>().toEqualTypeOf<Transaction<NotesDatabase>>()
    Idempotent({
      operation: 'things.make',
      fingerprint: ({ user }: HostRequest) => fingerprint(user, { version: 1 }),
      instance: (all: Idempotency<NotesDatabase>) => all.withOptions({ authorize: () => true }),
    })
    strictEqual(imports.length, 2, String(module.global))
  })
})
