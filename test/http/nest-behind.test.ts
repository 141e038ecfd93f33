// Of NestJS: what goes on behind an answer.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Controller, Get, Inject, Post, Redirect, Res } from '@nestjs/common'
import { Idempotent, IdempotentCall, IdempotentLookup } from 'oncely/nestjs'
import { finalize, interval } from 'rxjs'

import { gate } from '../support/gate.ts'
import { testDatabase } from '../support/database.ts'
import type { NotesDatabase } from '../support/notes-host.ts'
import { platforms } from './nest-applications.ts'
import { hearing, nestNotes, seen, sender } from './nest-notes.ts'

const { moduleOf, start } = nestNotes(testDatabase())

for (const platform of platforms) {
  describe(`behind an answer of NestJS, on ${platform}`, () => {
    const key = (name: string) => `${platform}-${name}`

    it('has no call any more behind its answer', async () => {
      const [stop, over] = [gate(), gate()]
      const found: unknown[] = []
      @Controller()
      class NotesController {
        @Inject(IdempotentCall) readonly call!: IdempotentCall<NotesDatabase>
        @Post()
        @Idempotent({ operation: 'notes.later' })
        make() {
          found.push(this.call.find()?.context.key)
          void stop.pass().then(() => {
            found.push(this.call.find())
            void over.pass()
          })
          return 'made'
        }
      }
      await sender(await start(platform, moduleOf(NotesController)), key('later'))()
      stop.open()
      await over.reached
      deepStrictEqual(found, [key('later'), undefined])
    })

    it('ends an Observable that never does, when it is given up', async () => {
      const ended = gate()
      @Controller()
      class NotesController {
        @Post()
        @Idempotent({ operation: 'notes.endless', deadlineMs: 2_000 })
        make() {
          return interval(10).pipe(finalize(() => void ended.pass()))
        }
      }
      const answer = await sender(
        await start(platform, moduleOf(NotesController)),
        key('endless'),
      )()
      strictEqual(answer.status, 503)
      await ended.reached
    })

    it('has nothing sent behind an answer that is not its own', async () => {
      const { heard, filter } = hearing()
      @Controller()
      class NotesController {
        @Post()
        @Redirect('/elsewhere', 303)
        @Idempotent({ operation: 'notes.silent' })
        make() {
          return undefined
        }
        @Get()
        @IdempotentLookup({ operation: 'notes.silent' })
        look() {
          return 'never'
        }
      }
      const url = await start(platform, moduleOf(NotesController, [filter]))
      const post = sender(url, key('silent'))
      const first = await seen(await post())
      deepStrictEqual([first[0], first[2]], [303, null])
      deepStrictEqual(await seen(await post()), [303, first[1], 'true'])
      strictEqual((await post({ count: 1 })).status, 422)
      const headers = { 'idempotency-key': key('silent') }
      const look = await fetch(url, { headers, redirect: 'manual' })
      deepStrictEqual(await seen(look), [303, first[1], 'true'])
      deepStrictEqual(heard, [])
    })

    it('tells an error amid an answer once', async () => {
      const { heard, filter } = hearing()
      @Controller()
      class NotesController {
        @Post()
        @Idempotent({ operation: 'notes.half' })
        make(
          @Res() response: { write?: (text: string) => void; raw?: { write(text: string): void } },
        ) {
          const { raw } = response
          if (raw) raw.write('half')
          else response.write?.('half')
          throw new Error('amid')
        }
      }
      const post = sender(await start(platform, moduleOf(NotesController, [filter])), key('half'))
      deepStrictEqual(await seen(await post()), [500, 'failed', null])
      deepStrictEqual(heard, ['amid'])
    })
  })
}
