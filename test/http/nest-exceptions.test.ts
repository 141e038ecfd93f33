// Of NestJS: what pipes, methods and filters make of a refusal.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  HttpException,
  Inject,
  Injectable,
  type PipeTransform,
  Post,
  UseFilters,
  UsePipes,
} from '@nestjs/common'
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core'
import { sql } from 'kysely'
import { Idempotent, IdempotentCall } from 'oncely/nestjs'

import { testDatabase } from '../support/database.ts'
import type { NotesDatabase } from '../support/notes-host.ts'
import { platforms } from './nest-applications.ts'
import { Notes, nestNotes, seen, sender } from './nest-notes.ts'

const { host, moduleOf, start, notes } = nestNotes(testDatabase())

for (const platform of platforms) {
  describe(`an exception of NestJS, on ${platform}`, () => {
    const key = (name: string) => `${platform}-${name}`

    it('does not store what pipes, which run inside, refuse', async () => {
      @Injectable()
      class CountPipe implements PipeTransform {
        transform(value: { count?: number }) {
          if (typeof value.count === 'number') return { ...value, piped: true }
          throw new BadRequestException('count')
        }
      }
      @Controller()
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post()
        @UsePipes(CountPipe)
        @Idempotent({ operation: 'notes.piped', finalStatuses: 'business' })
        async make(@Body() body: unknown) {
          await this.notes.write()
          return body
        }
      }
      const name = key('piped')
      const post = sender(await start(platform, moduleOf(NotesController)), name)
      const [status, , mark] = await seen(await post({ count: 'x' }))
      deepStrictEqual([status, mark], [400, null])
      deepStrictEqual(await seen(await post({ count: 1 })), [201, '{"count":1,"piped":true}', null])
      deepStrictEqual(await seen(await post({ count: 1 })), [
        201,
        '{"count":1,"piped":true}',
        'true',
      ])
      strictEqual(await notes(name), 1)
    })

    it('stores an exception that is declared, or whose status is named, and no other', async () => {
      @Controller()
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post('passing')
        @Idempotent({ operation: 'notes.passing' })
        async passing() {
          await this.notes.write()
          throw new HttpException('no', 409)
        }
        @Post('named')
        @Idempotent({ operation: 'notes.named', finalStatuses: [409] })
        async named() {
          await this.notes.write()
          throw new HttpException('no', 409)
        }
        @Post('declared')
        @Idempotent({ operation: 'notes.declared' })
        async declared() {
          await this.notes.write()
          throw this.notes.refuse(new HttpException('no', 402))
        }
      }
      const url = await start(platform, moduleOf(NotesController))
      for (const [path, mark] of [
        ['passing', null],
        ['named', 'true'],
        ['declared', 'true'],
      ] as const) {
        const post = sender(`${url}/${path}`, key(path))
        const [first, second] = [await post(), await post()]
        strictEqual(first.status, path === 'declared' ? 402 : 409)
        strictEqual(second.headers.get('idempotent-replayed'), mark)
        strictEqual(await second.text(), await first.text())
        strictEqual(await notes(key(path)), 0)
      }
    })

    it('does not store what a filter makes of an exception, whatever its status', async () => {
      @Catch()
      class Well implements ExceptionFilter {
        @Inject(HttpAdapterHost) readonly host!: HttpAdapterHost
        catch(_error: unknown, host: ArgumentsHost) {
          this.host.httpAdapter.reply(host.switchToHttp().getResponse(), 'all is well', 200)
        }
      }
      @Controller()
      @UseFilters(Well)
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post()
        @Idempotent({ operation: 'notes.filtered' })
        async make() {
          await this.notes.write()
          throw new Error('own')
        }
      }
      const name = key('filtered')
      const post = sender(await start(platform, moduleOf(NotesController)), name)
      for (let time = 1; time <= 2; time += 1) {
        deepStrictEqual(await seen(await post()), [200, 'all is well', null])
      }
      strictEqual(await notes(name), 0)
    })

    it('gives a COMMIT that fails to the filters of the application', async () => {
      @Catch()
      class Codes implements ExceptionFilter {
        @Inject(HttpAdapterHost) readonly host!: HttpAdapterHost
        catch(error: { code?: string }, host: ArgumentsHost) {
          const response: unknown = host.switchToHttp().getResponse()
          this.host.httpAdapter.reply(response, `code ${error.code}`, 500)
        }
      }
      await sql`create table if not exists later_${sql.raw(platform)} (
        key text, unique (key) deferrable initially deferred
      )`.execute(host.connect())
      @Controller()
      class NotesController {
        @Inject(IdempotentCall) readonly call!: IdempotentCall<NotesDatabase>
        @Post()
        @Idempotent({ operation: 'notes.commit' })
        async make() {
          for (let time = 1; time <= 2; time += 1) {
            await sql`insert into later_${sql.raw(platform)} values ('a')`.execute(this.call.tx)
          }
          return 'made'
        }
      }
      const filter = { provide: APP_FILTER, useClass: Codes }
      const url = await start(platform, moduleOf(NotesController, [filter as never]))
      deepStrictEqual(await seen(await sender(url, key('commit'))()), [500, 'code 23505', null])
    })
  })
}
