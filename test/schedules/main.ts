// `npm run test:schedules`: every order in which the statements of two callers and a janitor can come
// to a server. `--only TEXT` takes the scenarios whose name has that text; `--trace` shows each schedule.
import { parseArgs } from 'node:util'

import { isOncelyError } from '../../src/errors.ts'
import { checkConnection } from '../../src/postgres/server.ts'
import { startTestServer } from '../support/database-server.ts'
import { startTestRun } from '../support/test-run.ts'
import { type Explored, explore, type OnSchedule } from './depth-first.ts'
import { openFlow } from './flow.ts'
import { unhandled } from './judge.ts'
import { hiddenByReduction, tableOf, violationsOf } from './report.ts'
import { type Scenario, scenarios } from './scenario.ts'

/** One schedule has one statement under way at a time, so more of them keep two processors busy. */
const FLOWS = 3

/** There are several times as many: with fewer, something is not tried any more. */
const FEWEST = 2_000

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, trace: { type: 'boolean', default: false } },
})
const wanted = scenarios.filter(({ name }) => name.includes(values.only))

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // What was started is still to be put away, whenever the signal comes.
  process.on(signal, () => {
    stop.abort()
  })
}
process.on('unhandledRejection', (reason) => unhandled.push(reason))

const onSchedule: OnSchedule = ({ name }, trace, { outcome }) => {
  if (values.trace) console.log(`${name}\n${trace.toString()}\n${outcome}\n`)
}

/** Takes scenario after scenario, in a database of its own, until none is left. */
async function exploreAll(
  open: ReturnType<typeof openFlow>,
  left: Scenario[],
  explored: Explored[],
): Promise<void> {
  const flow = await open
  for (let next = left.shift(); next && !stop.signal.aborted; next = left.shift()) {
    const found = await explore(flow, next, stop.signal, onSchedule)
    explored.push(found)
    if (found.violation) {
      stop.abort()
      return
    }
  }
  await flow.close()
}

async function run(url: string): Promise<readonly Explored[]> {
  await checkConnection(url)
  const testRun = await startTestRun(url)
  const explored: Explored[] = []
  const opened = Array.from({ length: Math.min(FLOWS, wanted.length) }, () => openFlow(testRun))
  try {
    const left = [...wanted]
    const flows = opened.map((flow) => exploreAll(flow, left, explored))
    const stopped = new Promise((resolve) => {
      stop.signal.addEventListener('abort', resolve)
    })
    for (const flow of flows) flow.catch(() => undefined)
    // Stopped, nobody waits for a schedule that may never end: its connections are cut.
    await Promise.race([Promise.all(flows), stopped])
  } finally {
    // A database that is made behind the end would stay, and keep this process with it.
    await Promise.allSettled(opened)
    await testRun.end()
  }
  return explored
}

function conclude(explored: readonly Explored[], from: number): number {
  const inOrder = wanted.flatMap((scenario) => explored.filter((one) => one.scenario === scenario))
  const violations = [...violationsOf(inOrder), ...hiddenByReduction(inOrder)]
  for (const violation of violations) console.error(`${violation}\n`)
  if (violations.length === 0) console.log(tableOf(inOrder))
  const schedules = inOrder.reduce((sum, one) => sum + one.schedules, 0)
  const seconds = Math.round((performance.now() - from) / 1_000)
  console.log(`schedules: ${schedules}, violations: ${violations.length} (${seconds} s)`)
  const isWhole = inOrder.length === wanted.length && inOrder.every((one) => one.schedules > 0)
  if (!isWhole && violations.length === 0) console.error('it was ended before all were run')
  const isShrunk = isWhole && values.only === '' && schedules < FEWEST
  if (isShrunk) console.error(`fewer than ${FEWEST} schedules are no proof`)
  return violations.length === 0 && isWhole && !isShrunk ? 0 : 1
}

if (wanted.length === 0) {
  console.error(`no scenario has '${values.only}' in its name:`)
  for (const { name } of scenarios) console.error(`  ${name}`)
  process.exitCode = 1
} else {
  const from = performance.now()
  try {
    const server = await startTestServer()
    try {
      process.exitCode = conclude(stop.signal.aborted ? [] : await run(server.url), from)
    } finally {
      await server.stop()
    }
  } catch (error) {
    if (!isOncelyError(error)) throw error
    console.error(`oncely: ${error.message}`)
    process.exitCode = 1
  }
}
