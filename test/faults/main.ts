// `npm run test:faults`: lets faults strike at every message between a caller and its server, and
// compares what callers were told with what is there; then for a while at several callers at once.
// `-- --scenario TEXT --fault TEXT` tries only those whose names contain the texts;
// `-- --soak --seed N --minutes N` draws faults for several callers and keys at once, and no others.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

import { startTestServer } from '../support/database-server.ts'
import { crashEverywhere, killEverywhere, strikeEverywhere } from './exhaustive.ts'
import { type Ground, makeGround } from './ground.ts'
import { soak } from './soak.ts'
import { Tally } from './tally.ts'

const { values: options } = parseArgs({
  options: {
    scenario: { type: 'string', default: '' },
    fault: { type: 'string', default: '' },
    soak: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    minutes: { type: 'string', default: '0.25' },
  },
})
const [seed, minutes] = [Number(options.seed), Number(options.minutes)]
if (!Number.isSafeInteger(seed) || !(minutes > 0)) {
  throw new Error('--seed is a whole number, and --minutes one above 0')
}

const tally = new Tally()

async function strike(ground: Ground): Promise<void> {
  if (!options.soak) {
    await Promise.all([
      strikeEverywhere(ground, tally, options),
      killEverywhere(ground, tally, options),
      crashEverywhere(tally, options),
    ])
  }
  const selected = options.scenario || options.fault
  if (options.soak || !selected) await soak(ground, tally, { seed, minutes })
}

const from = performance.now()
const server = await startTestServer()
try {
  const ground = await makeGround(server.url)
  await strike(ground).finally(() => ground.close())
} finally {
  await server.stop()
}
console.log(tally.table())
console.log(`${tally.verdict} (seed ${seed}, ${Math.round((performance.now() - from) / 1_000)} s)`)
if (tally.faults === 0 || tally.problems > 0) process.exitCode = 1
