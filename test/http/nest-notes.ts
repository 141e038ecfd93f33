// Modules of NestJS whose controllers write notes by the call that is injected.
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Inject,
  Injectable,
  Module,
  type Type,
} from '@nestjs/common'
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core'
import { createIdempotency, type Idempotency } from 'oncely'
import { IdempotentCall, OncelyModule } from 'oncely/nestjs'

import type { TestDatabase } from '../support/database.ts'
import { type NotesDatabase, notesHost } from '../support/notes-host.ts'
import { nestApplications } from './nest-applications.ts'

export interface HostRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
}

const principal = ({ headers }: HostRequest) => ({
  tenant: 't1',
  actor: headers['x-actor'] ?? 'u1',
})

@Injectable()
export class Notes {
  readonly #call: IdempotentCall<NotesDatabase>

  constructor(@Inject(IdempotentCall) call: IdempotentCall<NotesDatabase>) {
    this.#call = call
  }

  /** Writes one under the key. */
  async write() {
    const { tx, context } = this.#call
    await tx.insertInto('notes').values({ key: context.key, body: 'note' }).execute()
    return { key: context.key }
  }

  refuse(error: Error) {
    return this.#call.context.reject(error)
  }
}

/** @returns what makes a module with one controller, and its notes. */
function notesModules(idempotency: Idempotency<NotesDatabase>) {
  return (controller: Type, providers: Type[] = []) => {
    @Module({
      imports: [OncelyModule.forRoot({ idempotency, principal })],
      controllers: [controller],
      providers: [Notes, ...providers],
    })
    class AppModule {}
    return AppModule
  }
}

export function sender(url: string, key: string) {
  return (body: unknown = {}, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'idempotency-key': key, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
}

/** Status, content and mark. */
export const seen = async (answer: Response) => [
  answer.status,
  await answer.text(),
  answer.headers.get('idempotent-replayed'),
]

/** Answers what a route has failed with, and keeps it. */
export function hearing() {
  const heard: string[] = []
  @Catch()
  class Heard implements ExceptionFilter {
    @Inject(HttpAdapterHost) readonly host!: HttpAdapterHost
    catch(error: { code?: string; message: string }, host: ArgumentsHost) {
      heard.push(error.code ?? error.message)
      this.host.httpAdapter.reply(host.switchToHttp().getResponse(), 'failed', 500)
    }
  }
  return { heard, filter: { provide: APP_FILTER, useClass: Heard } as never }
}

/** To be called at the top of a test file: what its applications write with, and how they are started. */
export function nestNotes(database: TestDatabase) {
  const host = notesHost(database)
  const idempotency = createIdempotency(host.connect())
  return {
    host,
    idempotency,
    moduleOf: notesModules(idempotency),
    start: nestApplications(),
    /** How many were written under a key. */
    notes: async (key: string) => (await host.left(key)).notes.length,
  }
}
