// That a route is typed as without us, and its transaction as the host's tables are. The compiler is the test.
import { strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { expectTypeOf } from 'expect-type'
import express, { type NextFunction, type Request, type Response } from 'express'
import { type Context, Hono } from 'hono'
import { validator } from 'hono/validator'
import type { Transaction } from 'kysely'
import { createIdempotency } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import { idempotent as onHono } from 'oncely/hono'

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
})
