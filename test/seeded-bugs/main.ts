// `npm run test:seeded-bugs`: seeds bugs into a copy of the sources, one at a time, and sees the proof
// turn red that is there to notice it. `-- --only TEXT` only those whose name has that text; `-- --write`
// writes the table into docs/seeded-bugs.md.
import { parseArgs } from 'node:util'

import { isOncelyError } from '../../src/errors.ts'
import { checkConnection } from '../../src/postgres/server.ts'
import { startTestServer } from '../support/database-server.ts'
import type { Proof, SeededBug } from './bug.ts'
import { bugs } from './bugs.ts'
import { makeCopy, seeded } from './copy.ts'
import { tableOf, writePage } from './page.ts'
import { type Ran, runProof } from './run-proof.ts'

/** A proof waits for its server half of the time. */
const AT_ONCE = 2

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, write: { type: 'boolean', default: false } },
})
const wanted = bugs.filter(({ name }) => name.includes(options.only))

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // What was started is still to be put away, whenever the signal comes.
  process.on(signal, () => {
    stop.abort()
  })
}

async function runIn(proof: Proof, url: string, bug?: SeededBug): Promise<Ran> {
  const copy = makeCopy(bug)
  try {
    return await runProof(proof, copy.folder, url, stop.signal)
  } finally {
    copy.remove()
  }
}

/** Some at a time, in order, until there is none left or it is interrupted. */
async function forEach<Item>(items: readonly Item[], run: (item: Item) => Promise<void>) {
  const left = items.values()
  const worker = async () => {
    for (const item of left) {
      if (stop.signal.aborted) return
      await run(item)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function report(what: string, name: string, { seconds, output }: Ran, isRight: boolean): void {
  if (stop.signal.aborted) return
  console.log(`${what.padEnd(8)} ${seconds.toFixed(0).padStart(3)} s  ${name}`)
  if (!isRight) console.log(output.split('\n').slice(-60).join('\n'))
}

/** Without a bug every proof is green, and says nothing of what is a sign of one. */
async function runUnseeded(url: string): Promise<boolean> {
  const proofs = new Map(wanted.map(({ proof }) => [proof.command, proof]))
  let green = 0
  await forEach([...proofs], async ([command, proof]) => {
    const ran = await runIn(proof, url)
    const signs = wanted.filter((bug) => bug.proof.command === command)
    const isGreen = ran.code === 0 && signs.every(({ says }) => !ran.output.includes(says))
    if (isGreen) green += 1
    report(isGreen ? 'green' : 'NOT GREEN', command, ran, isGreen)
  })
  return green === proofs.size
}

async function runSeeded(url: string): Promise<number> {
  let red = 0
  await forEach(wanted, async (bug) => {
    const ran = await runIn(bug.proof, url, bug)
    // A copy that cannot even be loaded is no proof of anything.
    const isRed = ran.code !== null && ran.code !== 0 && ran.output.includes(bug.says)
    if (isRed) red += 1
    report(isRed ? 'red' : 'NOT RED', bug.name, ran, isRed)
  })
  return red
}

async function main(): Promise<boolean> {
  // Before anything is run: the sources may have moved on.
  wanted.forEach(seeded)
  const server = await startTestServer()
  try {
    await checkConnection(server.url)
    if (!(await runUnseeded(server.url))) return false
    const red = await runSeeded(server.url)
    if (stop.signal.aborted) return false
    console.log(`\n${tableOf(wanted)}\n\nseeded bugs: ${wanted.length}, red: ${red}`)
    return red === wanted.length
  } finally {
    await server.stop()
  }
}

if (wanted.length === 0) {
  console.error(`no bug has '${options.only}' in its name:`)
  for (const { name } of bugs) console.error(`  ${name}`)
  process.exitCode = 1
} else if (options.write && wanted.length < bugs.length) {
  console.error('the page lists every bug: --write goes without --only')
  process.exitCode = 1
} else {
  try {
    const isRight = await main()
    if (stop.signal.aborted) console.error('test:seeded-bugs: interrupted')
    if (isRight && options.write) await writePage(bugs)
    process.exitCode = isRight ? 0 : 1
  } catch (error) {
    if (!isOncelyError(error)) throw error
    console.error(`oncely: ${error.message}`)
    process.exitCode = 1
  }
}
