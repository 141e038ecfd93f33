// `npm run bench`: what oncely costs, against budgets. See `--help`.
//
// Node runs these sources as they are, and only leaves their types out. tsx, which runs other commands
// here, adds a call to whatever makes a function, so that it keeps its name: a cost to ours and to
// those it is compared with that nobody has who uses the built package. Node knows nothing of
// tsconfig's `paths`, so that the sources are imported by their file: `oncely` would be a build of any age.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { format, resolveConfig } from 'prettier'

import { textTable } from '../test/support/text-table.ts'
import { prepareGround } from './ground.ts'
import { parseOptions, usage, UsageError } from './options.ts'
import { planOf } from './plan.ts'
import { chartsOf } from './report/charts.ts'
import { pageOf } from './report/page.ts'
import { kindOf, missedIn, parseResults, type Results } from './report/results.ts'
import { budgetTables, figureTables, machineTable } from './report/tables.ts'
import { sections } from './sections/all.ts'
import type { Figures } from './sections/section.ts'
import { warmUp } from './warm-up.ts'

async function measure(quick: boolean, only: readonly string[]): Promise<Results> {
  const { plan, chosen, leftOut } = planOf(quick, only, sections)
  if (chosen.length === 0) throw new UsageError(`nothing is named like ${only.join(', ')}`)
  const begun = performance.now()
  const ground = await prepareGround()
  try {
    console.error(`${seconds(begun)} s: warming up`)
    await warmUp(ground)
    const measured: Figures[] = []
    for (const section of chosen) {
      console.error(`${seconds(begun)} s: ${section.name}`)
      measured.push(await section.run(ground, plan))
    }
    return {
      format: 2,
      measuredAt: new Date().toISOString(),
      quick,
      leftOut,
      tookSeconds: seconds(begun),
      machine: ground.machine,
      network: ground.network,
      comparisons: measured.flatMap(({ comparisons }) => comparisons ?? []),
      tables: measured.flatMap(({ tables }) => tables ?? []),
      missed: measured.flatMap(({ missed }) => missed ?? []),
    }
  } finally {
    await ground.stop()
  }
}

function seconds(begun: number): number {
  return Math.round((performance.now() - begun) / 1_000)
}

async function draw(results: Results, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const charts = chartsOf(results)
  for (const { file, svg } of charts) writeFileSync(join(folder, file), svg)
  await write(join(folder, 'README.md'), pageOf(results, charts))
}

/** As everything in the repository is formatted. */
async function write(filepath: string, text: string): Promise<void> {
  writeFileSync(filepath, await format(text, { ...(await resolveConfig(filepath)), filepath }))
}

async function main(args: readonly string[]): Promise<number> {
  const { quick, only, json, from, charts, help } = parseOptions(args)
  if (help) {
    console.log(usage)
    return 0
  }
  const results =
    from === undefined ? await measure(quick, only) : parseResults(readFileSync(from, 'utf8'))
  const tables = [machineTable(results), ...figureTables(results), ...budgetTables(results)]
  for (const { title, rows } of tables) console.log(`${title}\n${textTable(rows)}\n`)
  console.log(`Measured by ${kindOf(results)}.`)
  if (json !== undefined) await write(json, JSON.stringify(results))
  if (charts !== undefined) await draw(results, charts)
  const missed = missedIn(results)
  for (const name of missed) console.error(`missed: ${name}`)
  return missed.length > 0 ? 1 : 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
