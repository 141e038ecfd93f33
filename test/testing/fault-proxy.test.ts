import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'

import { type Fault, type FaultKind, type FaultProxy, startFaultProxy } from 'oncely/testing'
import { Client } from 'pg'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { untilSessionEnds, untilWaiting } from '../support/waiting.ts'

const database = testDatabase()

async function proxied(t: TestContext): Promise<{ proxy: FaultProxy; client: Client }> {
  const proxy = await startFaultProxy(database.url)
  const client = new Client({ connectionString: proxy.url, application_name: 'proxied' })
  client.on('error', () => undefined)
  await client.connect()
  t.after(async () => {
    await proxy.close()
    await client.end().catch(() => undefined)
  })
  return { proxy, client }
}

/** At the n-th message of a type, from now on. */
function at(
  proxy: FaultProxy,
  direction: Fault['direction'],
  ahead: number,
  kind: FaultKind,
  side: Fault['side'] = 'before',
): Fault {
  const seen = proxy.messages.filter((message) => message.direction === direction).length
  return { kind, direction, message: seen + ahead, side }
}

const pidOf = async (client: Client) =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0

describe('startFaultProxy', () => {
  it('passes everything on, and names each message', async (t) => {
    const { proxy, client } = await proxied(t)
    const before = proxy.messages.length
    const { rows } = await client.query('select $1::int as one', [1])
    deepStrictEqual(rows, [{ one: 1 }])
    deepStrictEqual(
      proxy.messages.slice(before).map(({ type }) => type),
      [
        ...['Parse', 'Bind', 'Describe', 'Execute', 'Sync'],
        ...['ParseComplete', 'BindComplete', 'RowDescription', 'DataRow', 'CommandComplete'],
        'ReadyForQuery',
      ],
    )
    strictEqual(proxy.messages[0]?.type, 'StartupMessage')
  })

  it('tells a client that asks for TLS that there is none', async () => {
    const proxy = await startFaultProxy(database.url)
    const client = new Client({ connectionString: proxy.url, ssl: true })
    await rejects(client.connect(), /does not support SSL/)
    await proxy.close()
  })

  it('cut before a message: it never arrives', async (t) => {
    const { proxy, client } = await proxied(t)
    await client.query('create temp table if not exists unused (n int)')
    const { struck } = proxy.inject(at(proxy, 'to server', 1, 'cut'))
    await failureOf(client.query('select 1'))
    strictEqual(await struck, true)
    strictEqual(proxy.messages.at(-1)?.type, 'Query')
  })

  it('cut after a message: it arrives', async (t) => {
    const { proxy, client } = await proxied(t)
    await database.pool().query('create table arrived (n int)')
    const pid = await pidOf(client)
    proxy.inject(at(proxy, 'to server', 1, 'cut', 'after'))
    await failureOf(client.query('insert into arrived values (1)'))
    // What the server was sent it does, and then it notices that the client is gone.
    await untilSessionEnds(database.watcher, pid)
    const { rows } = await database.pool().query('select n from arrived')
    deepStrictEqual(rows, [{ n: 1 }])
  })

  it('stalled: nothing passes until it is released, and then all of it', async (t) => {
    const { proxy, client } = await proxied(t)
    proxy.inject(at(proxy, 'to server', 1, 'stalled'))
    let answered = false
    const answer = client.query('select 1').then(() => (answered = true))
    const other = new Client({ connectionString: proxy.url })
    await other.connect()
    await other.query('select 1')
    await other.end()
    strictEqual(answered, false)
    proxy.release()
    strictEqual(await answer, true)
  })

  it('half-open: neither side notices until it is released', async (t) => {
    const { proxy, client } = await proxied(t)
    const pid = await pidOf(client)
    proxy.inject(at(proxy, 'to server', 1, 'half-open'))
    const answer = beside(client.query('select 1'))
    const { rows } = await database
      .pool()
      .query<{ state: string }>('select state from pg_stat_activity where pid = $1', [pid])
    deepStrictEqual(rows, [{ state: 'idle' }])
    proxy.release()
    await failureOf(answer)
  })

  it('cancelled: what the backend is doing ends by 57014, and the connection stays', async (t) => {
    const { proxy, client } = await proxied(t)
    const holder = await database.pool().connect()
    await holder.query('begin; select pg_advisory_xact_lock(1)')
    const waiting = { name: 'waiting', act: () => untilWaiting(database.watcher, 'proxied') }
    proxy.inject(at(proxy, 'to server', 1, waiting, 'after'))
    proxy.inject(at(proxy, 'to server', 1, 'cancelled', 'after'))
    const failure = await failureOf(client.query('select pg_advisory_xact_lock(1)'))
    strictEqual((failure as { code: string }).code, '57014')
    await holder.query('rollback')
    holder.release()
    ok(await pidOf(client))
  })

  it('one of your own is given the process of the backend, and holds the message meanwhile', async (t) => {
    const { proxy, client } = await proxied(t)
    const pid = await pidOf(client)
    const given: unknown[] = []
    const own = {
      name: 'own',
      act(backend: number | undefined) {
        given.push(backend, proxy.messages.at(-1)?.type)
        return Promise.resolve()
      },
    }
    const { struck } = proxy.inject(at(proxy, 'to client', 1, own))
    await client.query('select 1')
    deepStrictEqual(given, [pid, 'RowDescription'])
    strictEqual(await struck, true)
    await client.query('select 1')
    strictEqual(given.length, 2)
  })

  it('one of your own that fails cuts the connection, and says so', async (t) => {
    const { proxy, client } = await proxied(t)
    const own = { name: 'own', act: () => Promise.reject(new Error('cannot')) }
    const { struck } = proxy.inject(at(proxy, 'to client', 1, own))
    await failureOf(client.query('select 1'))
    await rejects(struck, /cannot/)
  })

  it('has not struck where there is nothing to strike at, or when it was withdrawn', async (t) => {
    const proxy = await startFaultProxy(database.url)
    const first = { direction: 'to server', message: 1, side: 'before' } as const
    const early = proxy.inject({ ...first, kind: 'cancelled' })
    const own = proxy.inject({
      ...first,
      kind: { name: 'own', act: (pid) => Promise.resolve(pid !== undefined) },
    })
    const client = new Client({ connectionString: proxy.url })
    await client.connect()
    t.after(() => client.end().then(() => proxy.close()))
    deepStrictEqual([await early.struck, await own.struck], [false, false])

    const planned = proxy.inject(at(proxy, 'to server', 1, 'cut'))
    planned.withdraw()
    strictEqual(await planned.struck, false)
    await client.query('select 1')
  })

  it('passes messages of several MiB, and what comes octet by octet', async (t) => {
    const { proxy, client } = await proxied(t)
    const large = 'x'.repeat(8 * 2 ** 20)
    const { rows } = await client.query<{ back: string }>('select $1::text as back', [large])
    strictEqual(rows[0]?.back, large)

    const { hostname, port } = new URL(proxy.url)
    const socket = connect(Number(port), hostname)
    const start = Buffer.from('\0\0\0\x13\0\x03\0\0user\0nobody\0\0')
    start.writeInt32BE(start.length, 0)
    for (const octet of start) socket.write(Buffer.of(octet))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    match(answer.toString('latin1', 0, 1), /[RE]/)
    socket.destroy()
  })

  it('cuts a client that speaks something else, and goes on', async (t) => {
    const { proxy, client } = await proxied(t)
    const { hostname, port } = new URL(proxy.url)
    for (const words of ['\0\0\0\x04\0', 'GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\x02\0\x01']) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(words)
      await once(socket, 'close')
    }
    await client.query('select 1')
  })

  it('refuses what is no server and what is no fault', async () => {
    for (const url of [
      ...['', 'http://127.0.0.1', 'postgres://[', 'postgres:///app', 'postgres://%2Ftmp/app'],
      'postgres://127.0.0.1/app?host=/tmp',
      'postgres://127.0.0.1/app?port=1',
      'postgres://127.0.0.1/app?sslmode=require',
    ]) {
      await rejects(startFaultProxy(url), { code: 'invalid_options' }, url)
    }
    const proxy = await startFaultProxy(database.url)
    const place = { direction: 'to server', message: 1, side: 'before' } as const
    for (const fault of [
      { ...place, kind: 'none' },
      { ...place, kind: { name: 'x' } },
      { ...place, kind: 'cut', message: 0 },
      { ...place, kind: 'cut', message: 1.5 },
      { ...place, kind: 'cut', direction: 'up' },
      { ...place, kind: 'cut', side: 'beside' },
    ]) {
      throws(() => proxy.inject(fault as Fault), { code: 'invalid_options' }, JSON.stringify(fault))
    }
    const client = new Client({ connectionString: proxy.url })
    await client.connect()
    throws(() => proxy.inject({ ...place, kind: 'cut' }), /passed already/)
    await client.end()
    await proxy.close()
  })
})
