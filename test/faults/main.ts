// `npm run test:faults`: lets faults strike at every message between a caller and its server, and
// compares what callers were told with what is there; then for a while at several callers at once.
// `-- --scenario TEXT --fault TEXT` tries only those whose names contain the texts, `--host NAME` on that host;
// `-- --soak --seed N --minutes N` draws faults for several callers and keys at once, and no others;
// `-- --soak --seed N --round N` draws those of one round again.
import { isOncelyError } from '../../src/errors.ts'
import { checkConnection } from '../../src/postgres/server.ts'
import { startTestServer } from '../support/database-server.ts'
import { startTestRun } from '../support/test-run.ts'
import { type Arguments, readArguments } from './arguments.ts'
import { crashEverywhere, killEverywhere, strikeEverywhere } from './exhaustive.ts'
import { type Ground, makeGround } from './ground.ts'
import { hostNames } from './notes.ts'
import { soak } from './soak.ts'
import { Tally } from './tally.ts'

const interrupted = Promise.withResolvers<'interrupted'>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // What was started is still to be put away, whenever the signal comes.
  process.on(signal, () => {
    interrupted.resolve('interrupted')
  })
}

async function strike(ground: Ground, tally: Tally, given: Arguments): Promise<void> {
  if (!given.soak) {
    await Promise.all([
      strikeEverywhere(ground, tally, given),
      killEverywhere(ground, tally, given),
      crashEverywhere(tally, given),
    ])
  }
  if (given.soak || given.all) await soak(ground, tally, given)
}

async function main(given: Arguments): Promise<boolean> {
  // First of all, so that whatever comes of it can be repeated.
  console.log(`seed ${given.seed}`)
  const tally = new Tally()
  const from = performance.now()
  const server = await startTestServer()
  try {
    await checkConnection(server.url)
    const run = await startTestRun(server.url)
    try {
      const ground = await makeGround(server.url, `${run.env.ONCELY_TEST_RUN}_faults`)
      const struck = strike(ground, tally, given).finally(() => ground.close())
      if ((await Promise.race([struck, interrupted.promise])) === 'interrupted') return false
    } finally {
      await run.end()
    }
  } finally {
    await server.stop()
    console.log(tally.table())
    for (const host of hostNames) console.log(`faults on ${host}: ${tally.faultsBy(host)}`)
    const seconds = Math.round((performance.now() - from) / 1_000)
    console.log(`${tally.verdict} (seed ${given.seed}, ${seconds} s)`)
  }
  const least = given.all && !given.soak ? AT_LEAST : 0
  const isWhole = tally.faults > 0 && dialectHosts.every((host) => tally.faultsBy(host) >= least)
  if (!isWhole) console.error('fewer faults have struck than should have')
  return isWhole && tally.problems === 0
}

/** A proof that has shrunk proves less than it says: on each of these hosts. */
const AT_LEAST = 2_000
const dialectHosts = ['textsAlone', 'pipelining'] as const

try {
  // Interrupted, what is still under way has lost its server, and nobody waits for it.
  if (!(await main(readArguments(process.argv.slice(2))))) process.exit(1)
} catch (error) {
  if (!isOncelyError(error) && !(error instanceof TypeError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
