import { Caller, type Told } from './caller.ts'
import type { Flow } from './flow.ts'
import { runOf, show } from './history.ts'
import type { FingerprintName } from './fingerprints.ts'
import { type CallerRole, type Company, sightOf } from './scenario.ts'
import { shown } from './truth.ts'
import type { Left, SeenRecord } from './watcher.ts'

/**
 * Asks again behind a schedule, with either fingerprint: what was committed decides every answer, and
 * only where nothing was does the first one execute.
 *
 * @returns what was answered wrongly.
 */
export async function askAgain(
  flow: Flow,
  key: string,
  company: Company,
  left: Pick<Left, 'rows' | 'records'>,
): Promise<string[]> {
  const problems: string[] = []
  let before = left
  for (const fingerprint of ['one', 'other'] as const) {
    const role: CallerRole = { fingerprint, does: 'writes', waits: true }
    const caller = new Caller(`asked with ${fingerprint} `, role, flow.asker, company.options)
    const told = await caller.call(key)
    const [record] = before.records
    const right = rightAnswer(record, fingerprint, `${caller.name}1`)
    if (told.kind !== right.kind || told.run !== right.run || told.replayed !== right.replayed) {
      const wrong = `${shown(told)} and not ${shown(right)}`
      problems.push(`asked again with '${fingerprint}', ${show(record)} answered ${wrong}`)
    }
    const after = await flow.watcher.left(key, sightOf(company))
    const expected = before.rows.length + (right.kind === 'executed' ? 1 : 0)
    if (after.rows.length !== expected || after.records.length !== 1) {
      problems.push(`asked again with '${fingerprint}', there are ${after.rows.length} rows`)
    }
    before = after
  }
  return problems
}

function rightAnswer(
  record: SeenRecord | undefined,
  fingerprint: FingerprintName,
  run: string,
): Told {
  if (!record) return { kind: 'executed', run }
  if (record.fingerprint !== fingerprint) return { kind: 'conflict' }
  const stored = runOf(record)
  if (record.due || stored === undefined) return { kind: 'expired' }
  return record.state === 'rejected'
    ? { kind: 'rejected', run: stored, replayed: true }
    : { kind: 'replayed', run: stored }
}
