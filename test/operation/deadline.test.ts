import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { hosts } from '../support/hosts.ts'
import { nothing, notesHost, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const reason = new Error('the client hung up')

describe('a signal', () => {
  it('gives a call up that waits for the pool', async () => {
    const db = host.connect({ max: 1 })
    const idempotency = createIdempotency(db)
    const controller = new AbortController()
    await db.connection().execute(async () => {
      const call = beside(
        idempotency.withIdempotency(scope, 'pool', one, writeNote, { signal: controller.signal }),
      )
      controller.abort(reason)
      await rejects(call, { code: 'aborted', cause: reason })
    })
    // The pool has lost nothing by it.
    strictEqual((await idempotency.withIdempotency(scope, 'pool', one, writeNote)).kind, 'executed')
  })

  it('gives a call up that waits for a twin', async () => {
    using running = gate()
    const first = beside(
      createIdempotency(host.connect()).withIdempotency(scope, 'twin', one, async (tx, context) => {
        await running.pass()
        return writeNote(tx, context)
      }),
    )
    await running.reached
    const controller = new AbortController()
    const waiting = createIdempotency(host.connect({ application_name: 'aborted' }), {
      lockTimeoutMs: 20_000,
    })
    const twin = beside(
      waiting.withIdempotency(scope, 'twin', one, () => 1, { signal: controller.signal }),
    )
    await host.untilWaiting('aborted')
    controller.abort(reason)
    await rejects(twin, { code: 'aborted', cause: reason })
    running.open()
    strictEqual((await first).kind, 'executed')
  })

  it('A22: gives a call up while its function runs: nothing is committed, and tx is closed', async () => {
    using running = gate()
    const idempotency = createIdempotency(host.connect())
    const controller = new AbortController()
    const behind = Promise.withResolvers<unknown>()
    const call = beside(
      idempotency.withIdempotency(
        scope,
        'fn',
        one,
        async (tx, context) => {
          await writeNote(tx, context)
          await running.pass()
          sql`select 1`.execute(tx).then(behind.resolve, behind.resolve)
        },
        { signal: controller.signal },
      ),
    )
    await running.reached
    controller.abort(reason)
    await rejects(call, { code: 'aborted', cause: reason })
    running.open()
    strictEqual(((await behind.promise) as { code: string }).code, 'transaction_closed')
    deepStrictEqual(await host.left('fn'), nothing)
    strictEqual((await idempotency.withIdempotency(scope, 'fn', one, writeNote)).kind, 'executed')
  })

  it('lets no statement begin behind it, although the function goes on', async () => {
    const idempotency = createIdempotency(host.connect())
    const controller = new AbortController()
    const behind = Promise.withResolvers<unknown>()
    const call = idempotency.withIdempotency(
      scope,
      'loop',
      one,
      async (tx) => {
        for (let index = 0; ; index += 1) {
          if (index === 5) controller.abort(reason)
          // Never without a statement under way, which is waited for.
          await sql`select 1`.execute(tx).catch((error: unknown) => {
            behind.resolve([index, (error as { code: string }).code])
            throw error
          })
        }
      },
      { signal: controller.signal },
    )
    await rejects(call, { code: 'aborted' })
    deepStrictEqual(await behind.promise, [5, 'transaction_closed'])
  })

  it('that comes while the response is stored lets nothing be committed', async () => {
    // Where COMMIT is not sent with it.
    const manners = hosts.plain
    const db = host.connect({ application_name: 'storing', max: 1, manners })
    const controller = new AbortController()
    const { watcher } = database
    await watcher.transaction().execute(async (trx) => {
      await sql`lock table idem.outbox in share row exclusive mode`.execute(trx)
      const options = { signal: controller.signal }
      const storing = beside(
        createIdempotency(db).withIdempotency(scope, 'store', one, writeNote, options),
      )
      await host.untilWaiting('storing')
      controller.abort(reason)
      await rejects(storing, { code: 'aborted' })
    })
    // The store goes through now; what follows on that connection tells when it is over.
    await sql`select 1`.execute(db)
    deepStrictEqual(await host.left('store'), nothing)
  })

  it('gives the pool its connection back where a function of the host never ends', async () => {
    const never = new Promise<never>(() => undefined)
    const db = host.connect({ max: 1 })
    const idempotency = createIdempotency(db)
    const stuck = idempotency.withOptions({ authorize: () => never })
    await idempotency.withIdempotency(scope, 'stuck', one, writeNote)
    const call = stuck.withIdempotency(scope, 'stuck', one, writeNote, { deadlineMs: 50 })
    await rejects(call, { code: 'deadline_exceeded' })
    strictEqual(
      (await idempotency.withIdempotency(scope, 'stuck', one, writeNote)).kind,
      'replayed',
    )
  })

  it('that is aborted already lets nothing begin', async () => {
    let ran = false
    const call = createIdempotency(host.connect()).withIdempotency(
      scope,
      'early',
      one,
      () => {
        ran = true
      },
      { signal: AbortSignal.abort(reason) },
    )
    await rejects(call, { code: 'aborted', cause: reason })
    strictEqual(ran, false)
  })

  it('that is aborted when the call has ended changes nothing, and keeps no listener', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const idempotency = createIdempotency(host.connect())
    const result = await idempotency.withIdempotency(scope, 'late', one, writeNote, { signal })
    controller.abort(reason)
    strictEqual(result.kind, 'executed')
  })
})

describe('a deadline', () => {
  it('gives a call up whose function takes too long, and one that waits for the pool', async () => {
    const db = host.connect({ max: 1 })
    const idempotency = createIdempotency(db)
    const never = new Promise<void>(() => undefined)
    const exceeded = { code: 'deadline_exceeded', message: /50 ms/ }
    const options = { deadlineMs: 50 }
    await rejects(
      idempotency.withIdempotency(scope, 'd', one, () => never, options),
      exceeded,
    )
    await db.connection().execute(async () => {
      await rejects(
        idempotency.withIdempotency(scope, 'd', one, () => 1, options),
        exceeded,
      )
    })
    deepStrictEqual(await host.left('d'), nothing)
    const { kind } = await idempotency.withIdempotency(scope, 'd', one, () => 1, {
      deadlineMs: 20_000,
    })
    strictEqual(kind, 'executed')
  })

  for (const bad of [{ deadlineMs: 0 }, { deadlineMs: 1.5 }, { signal: {} }, { timeout: 1 }, 5]) {
    it(`is refused when it is none: ${JSON.stringify(bad)}`, async () => {
      const call = createIdempotency(host.connect()).withIdempotency(
        scope,
        'bad',
        one,
        () => 1,
        bad as object,
      )
      await rejects(call, { code: 'invalid_options' })
    })
  }
})
