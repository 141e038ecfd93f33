// Of NestJS: the call that is injected, and what is around a route.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Header,
  Inject,
  Injectable,
  type NestInterceptor,
  Post,
  Scope,
  UseGuards,
} from '@nestjs/common'
import { REQUEST } from '@nestjs/core'
import { Idempotent } from 'oncely/nestjs'
import { map } from 'rxjs'

import { testDatabase } from '../support/database.ts'
import { platforms } from './nest-applications.ts'
import { type HostRequest, Notes, nestNotes, seen, sender } from './nest-notes.ts'

const { moduleOf, start, notes } = nestNotes(testDatabase())

for (const platform of platforms) {
  describe(`an injected call of NestJS, on ${platform}`, () => {
    const key = (name: string) => `${platform}-${name}`

    it('takes effect once, by the transaction that is injected into a service', async () => {
      @Controller('notes')
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post()
        @Idempotent({ operation: 'notes.make' })
        make() {
          return this.notes.write()
        }
      }
      const url = await start(platform, moduleOf(NotesController), {
        set: (app) => app.setGlobalPrefix('api/v1'),
      })
      const name = key('injected')
      const post = sender(`${url}/api/v1/notes`, name)
      deepStrictEqual(await seen(await post()), [201, `{"key":"${name}"}`, null])
      deepStrictEqual(await seen(await post()), [201, `{"key":"${name}"}`, 'true'])
      strictEqual((await post({ count: 1 })).status, 422)
      strictEqual((await post({}, { 'idempotency-key': '' })).status, 400)
      strictEqual(await notes(name), 1)
    })

    it('is injected into providers of a request, and into what they are made of', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class Requested {
        @Inject(REQUEST) readonly request!: { headers: Record<string, string> }
        @Inject(Notes) readonly notes!: Notes
      }
      @Controller()
      class NotesController {
        @Inject(Requested) readonly requested!: Requested
        @Post()
        @Idempotent({ operation: 'notes.request' })
        async make() {
          const made = await this.requested.notes.write()
          return { ...made, of: this.requested.request.headers['x-of'] }
        }
      }
      const name = key('requested')
      const post = sender(await start(platform, moduleOf(NotesController, [Requested])), name)
      for (const mark of [null, 'true']) {
        const answer = await post({}, { 'x-of': mark ?? 'first' })
        deepStrictEqual(await seen(answer), [201, `{"key":"${name}","of":"first"}`, mark])
      }
    })

    it('is outside of other interceptors, and behind guards', async () => {
      let mapped = 0
      @Injectable()
      class Envelope implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler<{ key: string }>) {
          return next.handle().pipe(
            map((data) => {
              mapped += 1
              return { data: data.key }
            }),
          )
        }
      }
      @Injectable()
      class Guard implements CanActivate {
        canActivate(context: ExecutionContext) {
          return context.switchToHttp().getRequest<HostRequest>().headers['x-actor'] !== 'nobody'
        }
      }
      @Controller()
      @UseGuards(Guard)
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post()
        @Header('x-kind', 'note')
        @Idempotent({ operation: 'notes.wrapped' })
        make() {
          return this.notes.write()
        }
      }
      const name = key('wrapped')
      const url = await start(platform, moduleOf(NotesController), {
        set: (app) => app.useGlobalInterceptors(new Envelope()),
      })
      const post = sender(url, name)
      strictEqual((await post({}, { 'x-actor': 'nobody' })).status, 403)
      deepStrictEqual(await seen(await post()), [201, `{"data":"${name}"}`, null])
      const again = await post()
      strictEqual(again.headers.get('x-kind'), 'note')
      deepStrictEqual(await seen(again), [201, `{"data":"${name}"}`, 'true'])
      strictEqual(mapped, 1)
    })
  })
}
