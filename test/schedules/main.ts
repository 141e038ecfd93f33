// `npm run test:schedules`: every order in which the statements of two callers and a janitor can come
// to a server, with pipelining off and on. `--only TEXT` takes the scenarios whose name has that text,
// `--host NAME` those on that host; `--trace` shows each schedule.
import { parseArgs } from 'node:util'

import { isOncelyError } from '../../src/errors.ts'
import { checkConnection } from '../../src/postgres/server.ts'
import { startTestServer } from '../support/database-server.ts'
import { startTestRun, type TestRun } from '../support/test-run.ts'
import { type Explored, explore, type OnSchedule } from './depth-first.ts'
import { openFlow } from './flow.ts'
import { type HostName, hostNames } from './hosts.ts'
import { unhandled } from './judge.ts'
import { hiddenByReduction, tableOf, violationsOf } from './report.ts'
import { type Scenario, scenarios } from './scenario.ts'

/** One schedule has one statement under way at a time, so more of them keep two processors busy. */
const FLOWS = 3

/** There are several times as many: with fewer, something is not tried any more. */
const FEWEST = 2_000

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    host: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
  },
})
const wanted = scenarios.filter(
  ({ name, host }) => name.includes(values.only) && ['', host].includes(values.host),
)

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // What was started is still to be put away, whenever the signal comes.
  process.on(signal, () => {
    stop.abort()
  })
}
process.on('unhandledRejection', (reason) => unhandled.push(reason))

const onSchedule: OnSchedule = ({ name, host }, trace, { outcome }) => {
  if (values.trace) console.log(`${name}, ${host}\n${trace.toString()}\n${outcome}\n`)
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
  try {
    for (const host of hostNames) {
      const left = wanted.filter((scenario) => scenario.host === host)
      if (!stop.signal.aborted) await runOn(host, left, testRun, explored)
    }
  } finally {
    await testRun.end()
  }
  return explored
}

async function runOn(
  host: HostName,
  left: Scenario[],
  testRun: TestRun,
  explored: Explored[],
): Promise<void> {
  const opened = Array.from({ length: Math.min(FLOWS, left.length) }, () => openFlow(testRun, host))
  try {
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
  }
}

function countOn(host: HostName, explored: readonly Explored[]): number {
  const on = explored.filter(({ scenario }) => scenario.host === host)
  return on.reduce((sum, one) => sum + one.schedules, 0)
}

function isShrunk(host: HostName, explored: readonly Explored[]): boolean {
  return values.only === '' && ['', host].includes(values.host) && countOn(host, explored) < FEWEST
}

function conclude(explored: readonly Explored[], from: number): number {
  const inOrder = wanted.flatMap((scenario) => explored.filter((one) => one.scenario === scenario))
  const violations = [...violationsOf(inOrder), ...hiddenByReduction(inOrder)]
  for (const violation of violations) console.error(`${violation}\n`)
  if (violations.length === 0) console.log(tableOf(inOrder))
  const schedules = hostNames.reduce((sum, host) => sum + countOn(host, inOrder), 0)
  for (const host of hostNames) console.log(`schedules on ${host}: ${countOn(host, inOrder)}`)
  const seconds = Math.round((performance.now() - from) / 1_000)
  console.log(`schedules: ${schedules}, violations: ${violations.length} (${seconds} s)`)
  const isWhole = inOrder.length === wanted.length && inOrder.every((one) => one.schedules > 0)
  if (!isWhole && violations.length === 0) console.error('it was ended before all were run')
  const shrunk = hostNames.filter((host) => isWhole && isShrunk(host, inOrder))
  for (const host of shrunk) console.error(`fewer than ${FEWEST} schedules on ${host} are no proof`)
  return violations.length === 0 && isWhole && shrunk.length === 0 ? 0 : 1
}

if (wanted.length === 0) {
  console.error(`no scenario on '${values.host || 'any host'}' has '${values.only}' in its name:`)
  for (const { name, host } of scenarios) console.error(`  ${name}, ${host}`)
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
