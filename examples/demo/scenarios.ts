import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { isOncelyError, type Result } from 'oncely'
import { createSink } from 'oncely/sink'

import { beside, stopsAt } from '../../test/support/calls.ts'
import { gate } from '../../test/support/gate.ts'
import { type OrderInput, orderFingerprint, parseOrder, writeOrder } from '../orders/order.ts'
import { placeOrder } from '../orders/place-order.ts'
import type { Side, Stage } from './stage.ts'

/** One scene between two callers; it throws when anything is not as promised. */
export interface Scenario {
  readonly title: string
  play(stage: Stage): Promise<void>
}

const caller = { tenant: 'acme', actor: 'alice' }
const scope = { ...caller, operation: 'orders.create' }

const order = (orderNumber: string, amountMinor = 1999): OrderInput => ({
  orderNumber,
  amountMinor,
  sku: 'TEA-100',
  currency: 'EUR',
})

/** Places an order as `placeOrder` does, and stops at the gate before the function returns. */
function placeAtGate(side: Side, key: string, input: OrderInput, pass: () => Promise<void>) {
  const parsed = parseOrder(input)
  return side.idempotency.withIdempotency(
    scope,
    key,
    orderFingerprint(parsed),
    async (tx, context) => {
      const placed = await writeOrder(tx, context, parsed)
      side.say(`key ${key}: claimed; wrote order ${placed.orderNumber}; transaction still open`)
      await pass()
      return placed
    },
  )
}

/** Says how a call ended, and that it ended as it should. */
function ended<Kind extends Result<unknown>['kind'], Value>(
  side: Side,
  result: Result<Value>,
  kind: Kind,
): Extract<Result<Value>, { kind: Kind }> {
  const { kind: found, ok: _, ...rest } = result
  side.say(`→ ${found} ${JSON.stringify(rest)}`)
  strictEqual(found, kind)
  return result as Extract<Result<Value>, { kind: Kind }>
}

const commits: Scenario = {
  title: '(a) key commit: the twin waits, the first commits → replay',
  async play(stage) {
    const { first, twin } = stage
    using hold = gate()
    const one = beside(placeAtGate(first, 'K-1', order('A-1001'), hold.pass))
    await stopsAt(hold, one)
    const two = beside(placeOrder(twin.idempotency, caller, 'K-1', order('A-1001')))
    await stage.seeWaiting('twin')
    hold.open()
    const executed = ended(first, await one, 'executed')
    const replayed = ended(twin, await two, 'replayed')
    deepStrictEqual(replayed.value, executed.value)
  },
}

const rollsBack: Scenario = {
  title: '(b) key rollback: the twin waits, the first rolls back → the twin executes',
  async play(stage) {
    const { first, twin } = stage
    using hold = gate()
    const failure = new Error('the card was stolen')
    const one = placeAtGate(first, 'K-2', order('A-1002'), async () => {
      await hold.pass()
      throw failure
    }).catch((error: unknown) => error)
    await stopsAt(hold, one)
    const two = beside(placeOrder(twin.idempotency, caller, 'K-2', order('A-1002')))
    await stage.seeWaiting('twin')
    hold.open()
    strictEqual(await one, failure)
    first.say(`→ threw its own error, unchanged: ${failure.message}`)
    ended(twin, await two, 'executed')
  },
}

const timesOut: Scenario = {
  title: "(c) key timeout: the twin's wait times out, the first commits, same key again → replay",
  async play(stage) {
    const { first, twin } = stage
    using hold = gate()
    const one = beside(placeAtGate(first, 'K-3', order('A-1003'), hold.pass))
    await stopsAt(hold, one)
    // Long enough to be seen waiting, and it gives up while the first still holds the key.
    const hasty = twin.idempotency.withOptions({ lockTimeoutMs: 1_000 })
    const two = beside(placeOrder(hasty, caller, 'K-3', order('A-1003')))
    await stage.seeWaiting('twin')
    const busy = ended(twin, await two, 'in_progress')
    strictEqual(busy.sqlState, '55P03')
    hold.open()
    const executed = ended(first, await one, 'executed')
    const again = await placeOrder(hasty, caller, 'K-3', order('A-1003'))
    deepStrictEqual(ended(twin, again, 'replayed').value, executed.value)
  },
}

const lostResponse: Scenario = {
  title:
    '(d) key commit again: the caller threw the first response away → replay, no further order',
  async play({ first, watcher }) {
    const count = () =>
      watcher
        .selectFrom('orders')
        .select(({ fn }) => fn.countAll<string>().as('n'))
        .executeTakeFirstOrThrow()
    const before = await count()
    first.say('never saw the answer for K-1, so it sends K-1 again')
    ended(first, await placeOrder(first.idempotency, caller, 'K-1', order('A-1001')), 'replayed')
    const after = await count()
    first.say(`orders before ${before.n}, after ${after.n}`)
    strictEqual(after.n, before.n)
  },
}

const otherAmount: Scenario = {
  title: '(e) same key, other amount → conflict',
  async play({ twin }) {
    const input = order('A-1001', 4999)
    ended(twin, await placeOrder(twin.idempotency, caller, 'K-1', input), 'conflict')
  },
}

const tombstone: Scenario = {
  title: '(f) tombstoning waits for a replay that holds the record; same key again → expired',
  async play(stage) {
    const { first, watcher } = stage
    using hold = gate()
    // Kysely waits for its logger, which makes it a place to hold a replay at.
    const reader = stage.side('reader', { replayLock: 'share' }, async (event) => {
      if (event.query.sql.endsWith('for share')) await hold.pass()
    })
    const replay = beside(placeOrder(reader.idempotency, caller, 'K-1', order('A-1001')))
    await stopsAt(hold, replay)
    reader.say('key K-1: read FOR SHARE, transaction still open')
    const expiry = beside(stage.twin.idempotency.expire(scope, 'K-1'))
    await stage.seeWaiting('twin')
    hold.open()
    ended(reader, await replay, 'replayed')
    strictEqual(await expiry, true)
    stage.twin.say('→ expired K-1')
    ended(first, await placeOrder(first.idempotency, caller, 'K-1', order('A-1001')), 'expired')
    const { key, fingerprint, response } = await watcher
      .selectFrom('records')
      .where('key', '=', 'K-1')
      .select(['key', 'fingerprint', 'response'])
      .executeTakeFirstOrThrow()
    const digest = fingerprint.toString('hex').slice(0, 8)
    stage.twin.say(`record: key ${key}, fingerprint ${digest}…, response ${String(response)}`)
    strictEqual(fingerprint.toString('hex'), orderFingerprint(parseOrder(order('A-1001'))).digest)
    strictEqual(response, null)
  },
}

const businessNumber: Scenario = {
  title: '(g) new key, business number that exists → 23505, the whole transaction is gone',
  async play({ twin, watcher }) {
    const failure: unknown = await placeOrder(
      twin.idempotency,
      caller,
      'K-7',
      order('A-1002'),
    ).catch((error: unknown) => error)
    strictEqual(isOncelyError(failure), false)
    const { code, constraint } = failure as { code: string; constraint: string }
    twin.say(`→ threw the driver's own error: ${code}, ${constraint}`)
    strictEqual(code, '23505')
    const left = await watcher.selectFrom('records').where('key', '=', 'K-7').selectAll().execute()
    twin.say(`records of K-7: ${left.length}`)
    deepStrictEqual(left, [])
  },
}

const deliveredTwice: Scenario = {
  title: '(h) every event delivered twice into the sink → applied once',
  async play({ first, twin, watcher, schema }) {
    const events = await watcher
      .selectFrom('outbox')
      .select(['id', 'type', 'aggregateid'])
      .orderBy('position')
      .execute()
    for (const side of [first, twin]) {
      const sink = createSink(side.db, { consumer: 'shipping', schema })
      for (const event of events) {
        const { kind } = await sink.receive(event, () => undefined)
        side.say(`${event.type} ${event.aggregateid} → ${kind}`)
        strictEqual(kind, side === first ? 'applied' : 'duplicate')
      }
    }
  },
}

export const scenarios: readonly Scenario[] = [
  commits,
  rollsBack,
  timesOut,
  lostResponse,
  otherAmount,
  tombstone,
  businessNumber,
  deliveredTwice,
]
