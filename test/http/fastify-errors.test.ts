// What error handlers of Fastify are given, and what of theirs is stored.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { fastifyRoutes, replayed, sender } from './fastify-routes.ts'

const database = testDatabase()
const host = notesHost(database)
const { instance, route } = fastifyRoutes(createIdempotency(host.connect()))
const notes = async (key: string) => (await host.left(key)).notes.length

describe('a route on Fastify that fails', () => {
  it('does not store what an error handler has made a success of', async () => {
    const app = instance()
    app.setErrorHandler((_error, _request, reply) => reply.code(200).send('all is well'))
    route(app, () => {
      throw new Error('own')
    })
    const post = await sender(app, 'made-well')
    for (const seen of [await post(), await post()]) {
      deepStrictEqual([seen.status, await seen.text(), replayed(seen)], [200, 'all is well', null])
    }
    strictEqual(await notes('made-well'), 0)
  })

  it('gives a COMMIT that fails to the error handler, with nothing of the answer', async () => {
    const app = instance()
    app.setErrorHandler((error, _request, reply) => {
      const { code } = error as { code?: string }
      return reply.code(500).send({ code })
    })
    const db = host.connect()
    await sql`create table later (
      key text, unique (key) deferrable initially deferred
    )`.execute(db)
    await sql`insert into later values ('commit-fails')`.execute(db)
    const once = route(app, async (request, reply) => {
      await sql`insert into later values ('commit-fails')`.execute(once.of(request).tx)
      return reply.code(201).header('location', '/things/7').send({ a: 1 })
    })
    const post = await sender(app, 'commit-fails')
    const seen = await post()
    deepStrictEqual(
      [seen.status, await seen.json(), seen.headers.get('location')],
      [500, { code: '23505' }, null],
    )
    strictEqual(await notes('commit-fails'), 0)
  })

  it('answers a handler that never does in its place, and lets it come too late', async () => {
    const app = instance()
    let late: (() => void) | undefined
    route(
      app,
      async (_request, reply) => {
        await new Promise<void>((resolve) => {
          late = resolve
        })
        return reply.code(201).header('x-late', '1').send('late')
      },
      { deadlineMs: 300 },
    )
    const post = await sender(app, 'never')
    const seen = await post()
    deepStrictEqual([seen.status, seen.headers.get('retry-after')], [503, '1'])
    late?.()
    strictEqual(await notes('never'), 0)
    ok(app.server.listening)
  })
})
