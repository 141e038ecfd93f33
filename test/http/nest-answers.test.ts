// Of NestJS: whatever a method answers is stored, also where its client is gone.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { request as httpRequest, type Server as NodeServer } from 'node:http'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'

import { Controller, Inject, Post, Redirect, Res, StreamableFile } from '@nestjs/common'
import { Idempotent } from 'oncely/nestjs'
import { from, map, of } from 'rxjs'

import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { platforms } from './nest-applications.ts'
import { Notes, nestNotes, seen, sender } from './nest-notes.ts'

const { moduleOf, start, notes } = nestNotes(testDatabase())

for (const platform of platforms) {
  describe(`an answer of NestJS, on ${platform}`, () => {
    const key = (name: string) => `${platform}-${name}`

    it('stores files, Observables and redirects', async () => {
      @Controller()
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post('file')
        @Idempotent({ operation: 'notes.file' })
        async file() {
          await this.notes.write()
          const disposition = 'attachment; filename="a.txt"'
          return new StreamableFile(Readable.from([Buffer.from('file')]), { disposition })
        }
        @Post('observable')
        @Idempotent({ operation: 'notes.observable' })
        async observable() {
          await this.notes.write()
          return of('first', 'last')
        }
        @Post('redirect')
        @Redirect('/elsewhere', 303)
        @Idempotent({ operation: 'notes.redirect' })
        async redirect() {
          await this.notes.write()
        }
      }
      const url = await start(platform, moduleOf(NotesController))
      for (const path of ['file', 'observable', 'redirect']) {
        const post = sender(`${url}/${path}`, key(path))
        const [first, second] = [await post(), await post()]
        for (const header of ['content-type', 'content-disposition', 'location']) {
          strictEqual(second.headers.get(header), first.headers.get(header))
        }
        const [status, text] = await seen(first)
        deepStrictEqual(await seen(second), [status, text, 'true'], path)
        deepStrictEqual(
          [status, text],
          { file: [201, 'file'], observable: [201, 'last'] }[path] ?? [303, text],
        )
        strictEqual(await notes(key(path)), 1)
      }
    })

    it('takes what a method sends by itself', async () => {
      @Controller()
      class NotesController {
        @Inject(Notes) readonly notes!: Notes
        @Post()
        @Idempotent({ operation: 'notes.by-itself' })
        async make(@Res() response: { status(code: number): { send(body: string): void } }) {
          await this.notes.write()
          response.status(202).send('by itself')
        }
      }
      const post = sender(await start(platform, moduleOf(NotesController)), key('by-itself'))
      deepStrictEqual(await seen(await post()), [202, 'by itself', null])
      deepStrictEqual(await seen(await post()), [202, 'by itself', 'true'])
    })

    for (const kind of ['a value', 'a file', 'an Observable'] as const) {
      it(`stores ${kind} though its client has hung up`, async () => {
        const stop = gate()
        @Controller()
        class NotesController {
          @Inject(Notes) readonly notes!: Notes
          @Post()
          @Idempotent({ operation: 'notes.hang-up', deadlineMs: 20_000 })
          async make() {
            await this.notes.write()
            if (kind === 'an Observable') return from(stop.pass()).pipe(map(() => 'made'))
            await stop.pass()
            return kind === 'a file'
              ? new StreamableFile(Readable.from([Buffer.from('made')]))
              : 'made'
          }
        }
        const name = key(`gone-${kind.replace(' ', '-')}`)
        const gone = gate()
        const url = await start(platform, moduleOf(NotesController), {
          set(app) {
            const server = app.getHttpServer() as NodeServer
            server.once('connection', (socket) => socket.once('close', () => void gone.pass()))
          },
        })
        const headers = { 'idempotency-key': name, 'content-type': 'application/json' }
        const sent = httpRequest(url, { method: 'POST', headers })
        sent.on('error', () => undefined)
        sent.end('{}')
        await stop.reached
        sent.destroy()
        await gone.reached
        stop.open()
        const post = sender(url, name)
        let answer = await post()
        while (answer.status === 409) answer = await post()
        deepStrictEqual(await seen(answer), [201, 'made', 'true'])
        strictEqual(await notes(name), 1)
      })
    }
  })
}
