import { randomUUID } from 'node:crypto'

import { type Kysely, sql } from 'kysely'

import { type Figure, row } from './figure.ts'
import {
  type Calls,
  decisive,
  fill,
  freshGround,
  type Ground,
  repeat,
  responseAround,
  scope,
  withCalls,
  writeNote,
} from './ground.ts'
import { type Written, writtenBy } from './wal.ts'

const COUNT = 1_000

/** Bytes of the write-ahead log that each kind of call writes. */
export async function logFigures(
  admin: Kysely<unknown>,
  url: string,
  fillfactors: readonly (number | undefined)[],
): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const fillfactor of fillfactors) {
    const ground = await freshGround(admin, url, fillfactor)
    const as = fillfactor === undefined ? 'as it is' : `fillfactor ${fillfactor}`
    figures.push(
      ...(await withCalls(ground, 1, (calls) =>
        measure(`bytes of WAL for each, ${as}`, ground, calls),
      )),
    )
  }
  return figures
}

async function measure(section: string, ground: Ground, calls: Calls): Promise<readonly Figure[]> {
  const { admin } = ground
  const { db, idempotency } = calls
  const keys = Array.from({ length: COUNT }, () => randomUUID())
  const execute = (key: string) =>
    idempotency.withIdempotency(scope, key, decisive, async (tx) => {
      await writeNote(tx)
      return responseAround(300)
    })
  const bare = () => db.transaction().execute(writeNote)
  const again = () => repeat(COUNT, 1, (at) => execute(String(keys[at])))
  // Indexes that have grown are what calls find in the end.
  await fill(ground, 20 * COUNT)
  await repeat(COUNT, 1, () => execute(randomUUID()))
  await repeat(COUNT, 1, bare)

  const bareWritten = await behindCheckpoint(admin, () => repeat(COUNT, 1, bare))
  const first = await behindCheckpoint(admin, again)
  const firstReplay = await behindCheckpoint(admin, again)
  const replay = await writtenBy(admin, again)
  const expire = await writtenBy(admin, () =>
    repeat(COUNT, 1, (at) => idempotency.expire(scope, String(keys[at]))),
  )
  const firstExpired = await writtenBy(admin, again)
  const expired = await writtenBy(admin, again)
  const stop = AbortSignal.timeout(30_000)
  let swept = 0
  const sweep = await behindCheckpoint(admin, async () => {
    swept = (await idempotency.sweep({ signal: stop })).cleared
  })
  // The first reader may tidy up what a writer has left. The server takes that to the disk whenever it
  // likes, and nobody waits for it, so that only the second one can be held to anything.
  const isNothing = ({ bytes, images, flushed }: Written) => bytes + images === 0 && !flushed
  const line = (name: string, of: Written, count = COUNT) =>
    row(section, name, 'bytes', {
      records: of.bytes / count,
      'images behind a checkpoint': of.images / count,
    })
  const without: Written = {
    ...first,
    bytes: first.bytes - bareWritten.bytes,
    images: first.images - bareWritten.images,
  }
  return [
    ...line('bare transaction', bareWritten),
    ...line('first execution', first),
    ...line('first execution without the bare transaction', without),
    ...[...first.kinds]
      .toSorted(([, a], [, b]) => b - a)
      .map(([kind, bytes]) => row(section, `  of it ${kind}`, 'bytes', { records: bytes / COUNT }))
      .flat(),
    ...line('first replay of a record', firstReplay),
    ...line('replay', replay).map((figure) => ({ ...figure, kept: isNothing(replay) })),
    ...line('expire()', expire),
    ...line('first answer expired', firstExpired),
    ...line('answer expired', expired).map((figure) => ({ ...figure, kept: isNothing(expired) })),
    ...line('record swept', sweep, swept),
  ]
}

async function behindCheckpoint(
  admin: Kysely<unknown>,
  work: () => Promise<unknown>,
): Promise<Written> {
  await sql`checkpoint`.execute(admin)
  return writtenBy(admin, work)
}
