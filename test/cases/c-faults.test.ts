import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { hostNames, hosts } from '../support/hosts.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const admin = host.connect()

const phases = ['claim', 'fn', 'store', 'COMMIT'] as const

/** A statement fails in that phase of the call with that key, as long as the fault is there. */
let prepared: Promise<unknown> | undefined
beforeEach(async () => {
  prepared ??= sql`
    create table public.faults (phase text, key text, code text);
    create function public.fail() returns trigger language plpgsql as $$
      declare fault public.faults;
      begin
        select * into fault from public.faults where phase = tg_argv[0]
          and key = coalesce(to_jsonb(new) ->> 'key', to_jsonb(new) ->> 'aggregateid');
        if found then raise exception 'a fault' using errcode = fault.code; end if;
        return new;
      end $$;
    create trigger fail before insert on idem.records
      for each row execute function public.fail('claim');
    create trigger fail before insert on public.notes
      for each row execute function public.fail('fn');
    create trigger fail before insert on idem.outbox
      for each row execute function public.fail('store');
    create constraint trigger fail_late after insert on idem.outbox
      deferrable initially deferred
      for each row execute function public.fail('COMMIT')`.execute(admin)
  await prepared
})

async function withFault<T>(phase: string, key: string, code: string, run: () => Promise<T>) {
  await sql`insert into public.faults values (${phase}, ${key}, ${code})`.execute(admin)
  try {
    return await run()
  } finally {
    await sql`delete from public.faults where key = ${key}`.execute(admin)
  }
}

/** Two statements, one behind the other, that find themselves in one transaction. */
async function isInTransaction(db: Kysely<NotesDatabase>): Promise<boolean> {
  const started = sql<{ at: string }>`select transaction_timestamp()::text as at`
  const [first, second] = [await started.execute(db), await started.execute(db)]
  return first.rows[0]?.at === second.rows[0]?.at
}

for (const name of hostNames) {
  /** One connection: what a failed call leaves on it, the next borrower meets. */
  const connect = () => host.connect({ max: 1, manners: hosts[name] })

  describe(`a server that goes on behind an error of class 08, ${name}`, () => {
    for (const phase of phases) {
      it(`C19: in ${phase}: the next borrower is in no transaction, and the key is free`, async () => {
        const db = connect()
        const key = `08 ${phase} ${name}`
        const call = () => createIdempotency(db).withIdempotency(scope, key, one, writeNote)
        await withFault(phase, key, '08P01', () => rejects(call(), { code: '08P01' }))
        strictEqual(await isInTransaction(db), false)
        deepStrictEqual(await host.left(key), nothing)
        strictEqual((await call()).kind, 'executed')
      })
    }
  })

  describe(`a server short of something, ${name}`, () => {
    for (const code of ['53100', '53200'] as const) {
      for (const phase of phases) {
        it(`C27: ${code} in ${phase}: thrown, and executed once there is room again`, async () => {
          const db = connect()
          const key = `${code} ${phase} ${name}`
          const call = () => createIdempotency(db).withIdempotency(scope, key, one, writeNote)
          await withFault(phase, key, code, () => rejects(call(), { code }))
          deepStrictEqual(await host.left(key), nothing)
          deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'note' })
          deepStrictEqual(await host.left(key), written)
        })
      }
    }
  })
}

describe('a server short of something', () => {
  it('C27: behind which the function refuses: the refusal is not made final', async () => {
    const idempotency = createIdempotency(host.connect({ max: 1 }))
    const call = () =>
      idempotency.withIdempotency(scope, 'refused', one, (tx, context) =>
        writeNote(tx, context).catch(() => context.reject('no')),
      )
    await withFault('fn', 'refused', '53100', () => rejects(call(), { code: '53100' }))
    deepStrictEqual(await host.left('refused'), nothing)
    deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'note' })
  })

  it('C27: of connections, 53300: nothing has begun, and it is executed once there is one', async (t) => {
    const name = `oncely_crowded_${randomBytes(4).toString('hex')}`
    const role = sql.id(name)
    const { rows } = await sql<{ me: string }>`select current_user as me`.execute(admin)
    const me = sql.id(rows[0]?.me ?? '')
    await sql`create role ${role} login password 'secret' connection limit 0 in role ${me}`.execute(
      admin,
    )
    const url = Object.assign(new URL(database.url), { username: name, password: 'secret' })
    const db = host.connect({ connectionString: url.href })
    t.after(() => sql`drop role ${role}`.execute(admin))
    const call = () => createIdempotency(db).withIdempotency(scope, 'crowded', one, writeNote)
    const failure = (await failureOf(call())) as { code: string; cause: { code: string } }
    deepStrictEqual([failure.code, failure.cause.code], ['transaction_not_started', '53300'])
    await sql`alter role ${role} connection limit -1`.execute(admin)
    deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('crowded'), written)
  })
})
