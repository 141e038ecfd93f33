import { type Kysely, sql } from 'kysely'

/** What was written to the log between two moments. */
export interface Written {
  /** Bytes of its records, without the images of whole pages. */
  readonly bytes: number
  /** Bytes of the images, which the first change of a page behind a checkpoint writes. */
  readonly images: number
  /** Of each kind of record, such as `Heap/HOT_UPDATE`: its bytes without images. */
  readonly kinds: ReadonlyMap<string, number>
  /** Whether anything was made to reach the disk. */
  readonly flushed: boolean
}

/** What a server notes about itself now and then, whatever its clients do. */
const OWN_NOTES = /^(Standby\/RUNNING_XACTS|XLOG\/CHECKPOINT_.*)$/

/** Reads in the log itself what `work` has written, by the extension pg_walinspect. */
export async function writtenBy(
  admin: Kysely<unknown>,
  work: () => Promise<unknown>,
): Promise<Written> {
  const before = await positions(admin)
  await work()
  const after = await positions(admin)
  const flushed = before.flushed !== after.flushed
  if (before.inserted === after.inserted) {
    return { bytes: 0, images: 0, kinds: new Map(), flushed }
  }
  // Only what has reached the disk can be read back, and this commit takes it there.
  await sql`select pg_logical_emit_message(true, 'size', '')`.execute(admin)
  const { rows } = await sql<{ kind: string; bytes: string; images: string }>`
    select "resource_manager/record_type" as kind, record_size::text as bytes, fpi_size::text as images
    from pg_get_wal_stats(${before.inserted}::pg_lsn, ${after.inserted}::pg_lsn, true)
    where count > 0`.execute(admin)
  const ours = rows.filter(({ kind }) => !OWN_NOTES.test(kind))
  return {
    bytes: ours.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    images: ours.reduce((sum, { images }) => sum + Number(images), 0),
    kinds: new Map(ours.map(({ kind, bytes }) => [kind, Number(bytes)])),
    // The server's own notes reach the disk by themselves.
    flushed: flushed && ours.length > 0,
  }
}

async function positions(admin: Kysely<unknown>): Promise<{ inserted: string; flushed: string }> {
  const { rows } = await sql<{ inserted: string; flushed: string }>`
    select pg_current_wal_insert_lsn()::text as inserted, pg_current_wal_flush_lsn()::text as flushed
  `.execute(admin)
  const [found] = rows
  if (!found) throw new Error('no position in the log')
  return found
}
