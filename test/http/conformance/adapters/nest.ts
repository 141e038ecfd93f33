import 'reflect-metadata'

import { Readable } from 'node:stream'

import {
  All,
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Inject,
  type INestApplication,
  Module,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common'
import { HttpAdapterHost, NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import type { FastifyReply } from 'fastify'
import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'

import type { NotesDatabase } from '../../../support/notes-host.ts'
import {
  Idempotent,
  IdempotentCall,
  IdempotentLookup,
  OncelyModule,
} from '../../../../src/nestjs.ts'
import {
  type Adapter,
  type Answer,
  principalOf,
  type Server,
  type ServerOptions,
} from '../server.ts'
import { contentOf, listening, operation } from './parts.ts'

type Reply = (ServerResponse & { raw?: undefined }) | FastifyReply

/** An application of the options of a server. */
function moduleOf({ idempotency, handler, route, onError }: ServerOptions) {
  @Controller()
  class ThingsController {
    readonly #call: IdempotentCall<NotesDatabase>

    constructor(@Inject(IdempotentCall) call: IdempotentCall<NotesDatabase>) {
      this.#call = call
    }

    @Get('lookup')
    @IdempotentLookup({ operation })
    lookup() {
      throw new Error('never run')
    }

    @All('things/:id')
    // Of these, and not of every one that writes, as the checks would have it.
    @Idempotent({ operation, methods: ['POST', 'PATCH'], ...route })
    async make(@Req() request: { body: unknown }, @Res({ passthrough: true }) response: Reply) {
      const call = this.#call.find()
      if (!call) {
        setHead(response, {})
        return 'untouched'
      }
      const answer = await handler({
        call,
        content: () => Promise.resolve(contentOf(call.body ?? request.body)),
      })
      // Never.
      if (!answer) return new Promise(() => undefined)
      setHead(response, answer)
      const { body, stream } = answer
      if (stream) return new StreamableFile(Readable.from(stream.map((text) => Buffer.from(text))))
      return body instanceof Uint8Array ? new StreamableFile(body) : body
    }
  }

  @Catch()
  class Filter implements ExceptionFilter {
    readonly #host: HttpAdapterHost

    constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
      this.#host = host
    }

    catch(error: unknown, host: ArgumentsHost) {
      const { status, body } = onError?.(error) ?? { status: 500, body: 'failed' }
      this.#host.httpAdapter.reply(host.switchToHttp().getResponse(), body, status)
    }
  }

  const principal = ({ headers }: IncomingMessage) => principalOf(headers['x-actor'] as string)
  @Module({
    imports: [OncelyModule.forRoot({ idempotency, principal })],
    controllers: [ThingsController],
    providers: [{ provide: 'APP_FILTER', useClass: Filter }],
  })
  class AppModule {}
  return AppModule
}

function setHead(response: Reply, { status = 200, headers = [] }: Answer): void {
  response.statusCode = status
  for (const [name, value] of headers) {
    if (!response.raw) response.appendHeader(name, value)
    else response.raw.appendHeader(name, value)
  }
}

async function started(app: INestApplication): Promise<Server> {
  await app.listen(0, '127.0.0.1')
  return { ...(await listening(app.getHttpServer() as NodeServer)), close: () => app.close() }
}

const without = {
  'answers twice': 'what a handler returns is its answer',
  'throws behind its answer': 'what a handler returns is its answer',
}

const quiet = { logger: false, forceCloseConnections: true } as const

export const nestOnExpress: Adapter = {
  name: 'nestjs, on express',
  without,
  async start(options) {
    const bodyParser = options.parser === true
    return started(await NestFactory.create(moduleOf(options), { ...quiet, bodyParser }))
  },
}

export const nestOnFastify: Adapter = {
  name: 'nestjs, on fastify',
  without: { ...without, 'content unread': 'Fastify reads it before: its `bodyLimit` counts' },
  async start(options) {
    const app = await NestFactory.create<NestFastifyApplication>(
      moduleOf(options),
      new FastifyAdapter({ forceCloseConnections: true }),
      { ...quiet, bodyParser: options.parser === true },
    )
    const fastify = app.getHttpAdapter().getInstance()
    if (!options.parser) fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body)
    })
    return started(app)
  },
}
