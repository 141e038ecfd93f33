// A NestJS host as its command line makes one: CommonJS, decorators, tables by the module's own Kysely.
import 'reflect-metadata'

import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency, fingerprint, type Idempotency, isOncelyError } from 'oncely'
import { createSink } from 'oncely/sink'
import { Pool } from 'pg'

interface Database {
  notes: { id: string; body: string }
}

@Injectable()
class DatabaseService extends Kysely<Database> implements OnApplicationShutdown {
  constructor() {
    const pool = new Pool({ connectionString: process.env['DATABASE_URL'] })
    pool.on('connect', (client) => client.on('error', console.error))
    super({ dialect: new PostgresDialect({ pool }) })
  }

  onApplicationShutdown() {
    return this.destroy()
  }
}

const IDEMPOTENCY = Symbol('idempotency')

@Injectable()
class NotesService {
  constructor(@Inject(IDEMPOTENCY) private readonly idempotency: Idempotency<Database>) {}

  write(actor: string, key: string, body: string) {
    const scope = { tenant: 'acme', actor, operation: 'notes.write' }
    const decisive = fingerprint({ body }, { version: 1 })
    return this.idempotency.withIdempotency(scope, key, decisive, async (tx) => {
      await tx.insertInto('notes').values({ id: key, body }).execute()
      return { id: key, at: new Date(0) }
    })
  }

  expire(actor: string, key: string) {
    return this.idempotency.expire({ tenant: 'acme', actor, operation: 'notes.write' }, key)
  }
}

@Module({
  providers: [
    DatabaseService,
    NotesService,
    {
      provide: IDEMPOTENCY,
      inject: [DatabaseService],
      useFactory: (db: DatabaseService) => createIdempotency<Database>(db),
    },
  ],
})
class NotesModule {}

async function main() {
  const app = await NestFactory.createApplicationContext(NotesModule, { logger: ['error'] })
  const notes = app.get(NotesService)
  const told = async (body: string) => {
    const result = await notes.write('alice', 'K-1', body)
    return result.ok ? `${result.kind} ${result.value.at}` : result.kind
  }
  console.log(await told('a'))
  console.log(await told('a'))
  console.log(await told('b'))
  await notes.expire('alice', 'K-1')
  console.log(await told('a'))
  const sink = createSink<Database>(app.get(DatabaseService), { consumer: 'c' })
  console.log((await sink.receive({ id: 'e' }, () => 1)).kind)
  console.log(
    await notes
      .write('alice', '', 'a')
      .catch((error: unknown) => isOncelyError(error) && error.code),
  )
  await app.close()
}

void main()
