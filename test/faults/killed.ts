import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { build } from 'esbuild'
import type { FaultKind, Finding, Subject } from 'oncely/testing'

import type { Answer } from './notes.ts'
import type { Scenario } from './scenarios.ts'

/**
 * The first call is made by a process of its own, which the fault kills; then a living one retries.
 * One at a time, so that the fault knows whom it strikes at.
 */
export function killedCaller({ name, host, subject }: Scenario): {
  readonly subject: Subject<Answer>
  readonly killed: FaultKind
} {
  let child: ChildProcess | undefined
  const killed = new Set<ChildProcess>()
  const deaths: Finding[] = []
  return {
    killed: {
      name: 'SIGKILL',
      async act() {
        if (!child || child.exitCode !== null) return false
        const ended = once(child, 'exit')
        killed.add(child)
        child.kill('SIGKILL')
        await ended
        return true
      },
    },
    subject: {
      ...subject,
      check: async (key, calls) => [
        ...((await subject.check?.(key, calls)) ?? []),
        ...deaths.splice(0),
      ],
      async open(url) {
        const living = await subject.open(url)
        let calls = 0
        return {
          ...living,
          async call(key) {
            if ((calls += 1) > 1) return living.call(key)
            child = spawn(process.execPath, [bundle, name, host, url, key], {
              stdio: ['ignore', 'pipe', 'inherit'],
            })
            return answerOf(child, killed, deaths)
          },
        }
      },
    },
  }
}

const root = join(import.meta.dirname, '../..')
const bundle = join(root, 'node_modules/.cache/oncely/fault-caller.mjs')

/** Makes one file of the caller, since loading it from its sources would take most of the time. */
export async function bundleCaller(): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, 'caller.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // Whatever `oncely` is to the sources of this project.
    tsconfig: join(root, 'tsconfig.json'),
  })
}

async function answerOf(
  child: ChildProcess,
  killed: ReadonlySet<ChildProcess>,
  deaths: Finding[],
): Promise<Answer> {
  const said = child.stdout?.toArray() ?? Promise.resolve([])
  const [code] = (await once(child, 'exit')) as [number | null]
  // Whom it has told nothing may think what he likes.
  if (killed.has(child)) return { kind: 'unknown' }
  if (code !== 0) {
    deaths.push({ wrong: 'stuck', why: 'the calling process died by itself' })
    return { kind: 'unknown' }
  }
  const { result, error } = JSON.parse((await said).join('')) as { result?: Answer; error?: string }
  if (result) return result
  throw new Error(error)
}
