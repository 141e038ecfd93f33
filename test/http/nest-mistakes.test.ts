// Of NestJS: routes that are marked where it cannot be meant.
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Controller, Inject, Module, Post, Put, Sse } from '@nestjs/common'
import type { FastifyInstance } from 'fastify'
import { fingerprint } from 'oncely'
import { Idempotent, OncelyModule } from 'oncely/nestjs'
import { of } from 'rxjs'

import { testDatabase } from '../support/database.ts'
import { platforms } from './nest-applications.ts'
import { hearing, Notes, nestNotes, seen, sender } from './nest-notes.ts'

const { idempotency, moduleOf, start } = nestNotes(testDatabase())

for (const platform of platforms) {
  describe(`a marked route of NestJS, on ${platform}`, () => {
    const key = (name: string) => `${platform}-${name}`

    it('serves whatever method writes, as somebody has marked it', async () => {
      @Controller()
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Put()
        @Idempotent({ operation: 'notes.put' })
        put() {
          return this.notes.write()
        }
      }
      const url = await start(platform, moduleOf(NotesController))
      const headers = { 'idempotency-key': key('put') }
      const put = () => fetch(url, { method: 'PUT', headers })
      deepStrictEqual([(await seen(await put()))[2], (await seen(await put()))[2]], [null, 'true'])
    })

    it('refuses a form that an interceptor behind it reads, unless it is told what decides', async () => {
      const content = (of: string) => {
        const form = new FormData()
        form.set('file', new Blob(['a']), of)
        return form
      }
      @Controller()
      class NotesController {
        @Post('alone')
        @Idempotent({ operation: 'notes.form' })
        alone() {
          return 'made'
        }
        @Post('told')
        @Idempotent({
          operation: 'notes.told',
          fingerprint: () => fingerprint('any', { version: 1 }),
        })
        told() {
          return 'made'
        }
      }
      const url = await start(platform, moduleOf(NotesController), {
        set: (app) => {
          if (platform === 'express') return
          const fastify = app.getHttpAdapter().getInstance() as FastifyInstance
          fastify.addContentTypeParser('multipart/form-data', (_request, _payload, done) => {
            done(null)
          })
        },
      })
      const post = async (path: string) => {
        const headers = { 'idempotency-key': key(path) }
        return fetch(`${url}/${path}`, { method: 'POST', headers, body: content(path) })
      }
      deepStrictEqual([(await post('alone')).status, (await post('told')).status], [500, 201])
    })

    it('is refused where it is a stream of events', async () => {
      const { heard, filter } = hearing()
      @Controller()
      class NotesController {
        @Idempotent({ operation: 'notes.sse' })
        @Post('late')
        late() {
          return of({ data: 'a' })
        }
      }
      const { late } = Object.getOwnPropertyDescriptors(NotesController.prototype)
      throws(() => {
        Sse('sse')(NotesController.prototype, 'late', late)
        Idempotent({ operation: 'a' })(NotesController.prototype, 'late', late)
      }, /Sse/)
      const url = await start(platform, moduleOf(NotesController, [filter]))
      const answer = await sender(`${url}/sse`, key('sse'))().catch(() => undefined)
      strictEqual(answer?.headers.get('idempotency-key-retention') ?? null, null)
      strictEqual(heard.length <= 1, true)
    })

    it('fails at once where its module is made twice, and says so', async () => {
      const { heard, filter } = hearing()
      @Controller()
      class NotesController {
        @Post()
        @Idempotent({ operation: 'notes.twice' })
        make() {
          return 'made'
        }
      }
      const principal = () => ({ tenant: 't1', actor: 'u1' })
      @Module({
        imports: [OncelyModule.forRoot({ idempotency, principal })],
      })
      class Feature {}
      @Module({
        imports: [Feature, moduleOf(NotesController)],
        providers: [filter],
      })
      class AppModule {}
      const post = sender(await start(platform, AppModule), key('twice'))
      strictEqual((await post()).status, 500)
      deepStrictEqual(heard, ['call_under_way'])
    })
  })
}
