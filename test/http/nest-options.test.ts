// Of NestJS: how its module is made, and what is wrong is told when the application is made.
import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Body, Controller, Get, Inject, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Kysely } from 'kysely'
import { createIdempotency, type Idempotency } from 'oncely'
import { Idempotent, IdempotentCall, IdempotentLookup, OncelyModule } from 'oncely/nestjs'

import { testDatabase } from '../support/database.ts'
import type { NotesDatabase } from '../support/notes-host.ts'
import { platforms } from './nest-applications.ts'
import { Notes, nestNotes, seen, sender } from './nest-notes.ts'

const { host, idempotency, moduleOf, start } = nestNotes(testDatabase())
const principal = () => ({ tenant: 't1', actor: 'u1' })
const invalid = { code: 'invalid_options' }

for (const platform of platforms) {
  describe(`a module of NestJS, on ${platform}`, () => {
    const key = (name: string) => `${platform}-${name}`

    it('is made of what others export, and its options count for every route', async () => {
      const DATABASE = Symbol('database')
      @Module({
        providers: [{ provide: DATABASE, useFactory: () => host.connect() }],
        exports: [DATABASE],
      })
      class DatabaseModule {}
      @Controller()
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post('as-the-module')
        @Idempotent({ operation: 'notes.shared' })
        shared() {
          return this.notes.write()
        }
        @Post('as-the-route')
        @Idempotent({ operation: 'notes.own', required: true })
        own() {
          return this.notes.write()
        }
      }
      @Module({
        imports: [
          OncelyModule.forRootAsync({
            imports: [DatabaseModule],
            inject: [DATABASE],
            useFactory: async (db: Kysely<NotesDatabase>) => ({
              idempotency: await Promise.resolve(createIdempotency(db)),
              principal,
              required: false,
            }),
          }),
        ],
        controllers: [NotesController],
        providers: [Notes],
      })
      class AppModule {}
      const url = await start(platform, AppModule)
      const bare = (path: string) => fetch(`${url}/${path}`, { method: 'POST' })
      // Without a key it passes untouched, and there is no call to write with.
      deepStrictEqual(
        [(await bare('as-the-module')).status, (await bare('as-the-route')).status],
        [500, 400],
      )
      const post = sender(`${url}/as-the-module`, key('async'))
      strictEqual((await post()).status, 201)
      strictEqual((await post()).headers.get('idempotent-replayed'), 'true')
    })

    it('takes an instance of its own for an operation, and looks at a key', async () => {
      const quota = { limit: 1, windowMs: 60_000 }
      @Controller('notes')
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post()
        @Idempotent({
          operation: key('notes.quota'),
          instance: (all: Idempotency<NotesDatabase>) => all.withOptions({ quota }),
        })
        make() {
          return this.notes.write()
        }
        @Get()
        @IdempotentLookup({ operation: key('notes.quota') })
        look(): never {
          throw new Error('never run')
        }
      }
      const url = `${await start(platform, moduleOf(NotesController))}/notes`
      const actor = { 'x-actor': platform }
      const look = () => fetch(url, { headers: { 'idempotency-key': key('quota-1'), ...actor } })
      strictEqual((await look()).status, 404)
      strictEqual((await sender(url, key('quota-1'))({}, actor)).status, 201)
      strictEqual((await sender(url, key('quota-2'))({}, actor)).status, 429)
      deepStrictEqual(await seen(await look()), [201, `{"key":"${key('quota-1')}"}`, 'true'])
    })

    it('knows a form that its platform has parsed', async () => {
      @Controller()
      class NotesController {
        @Post()
        @Idempotent({ operation: 'notes.urlencoded' })
        make(@Body() body: unknown) {
          return body
        }
      }
      const url = await start(platform, moduleOf(NotesController))
      const headers = { 'idempotency-key': key('form') }
      const post = (form: string) =>
        fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
      const made = '{"a":"1","b":"2"}'
      deepStrictEqual(await seen(await post('a=1&b=2')), [201, made, null])
      deepStrictEqual(await seen(await post('b=2&a=1')), [201, made, 'true'])
      strictEqual((await post('a=1&b=3')).status, 422)
    })

    it('sees the octets of a request where the application keeps them', async () => {
      @Controller()
      class NotesController {
        @Post()
        @Idempotent({ operation: 'notes.raw' })
        make(@Body() body: unknown) {
          return body
        }
      }
      const url = await start(platform, moduleOf(NotesController), { rawBody: true })
      const seen = await sender(url, key('raw'))('{"a":9007199254740993}')
      deepStrictEqual([seen.status, (await seen.json()) !== undefined], [400, true])
      strictEqual((await sender(url, key('raw'))('{"a":1}')).status, 201)
    })
  })
}

describe('what is wrong with a module of NestJS', () => {
  it('is told when a controller is loaded', () => {
    throws(() => Idempotent({ operation: '' }), invalid)
    throws(() => Idempotent({ operation: 'a', deadlineMs: 0 }), invalid)
    throws(() => Idempotent({ operation: 'a', other: 1 } as never), invalid)
    throws(() => Idempotent({ operation: 'a', instance: 1 } as never), invalid)
    throws(() => IdempotentLookup(undefined as never), invalid)
  })

  it('is told when the application is made', async () => {
    const made = (options: object) => {
      @Module({ imports: [OncelyModule.forRoot(options as never)] })
      class AppModule {}
      return NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false })
    }
    await rejects(made({ principal }), invalid)
    await rejects(made({ idempotency }), invalid)
    await rejects(made({ idempotency, principal, finalStatuses: [200] }), invalid)
  })

  it('is told where there is no call', () => {
    const call = new IdempotentCall()
    for (const name of ['tx', 'context', 'body'] as const)
      throws(() => call[name], { code: 'call_missing' })
    strictEqual(call.find(), undefined)
  })
})
