import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** How many test files share a process. Before its first test one takes most of a second to load what it needs. */
const TOGETHER = 6

/** Test files, of which several are loaded by one that is written for it, and how to be rid of those. */
export interface TestGroups {
  readonly files: readonly string[]
  remove(): void
}

/**
 * Puts test files together. Each keeps its own database; what it does behind or in front of every test, on its own,
 * is done for all of its group.
 */
export function testGroups(files: readonly string[]): TestGroups {
  if (files.length < TOGETHER) return { files, remove: () => undefined }
  const folder = mkdtempSync(join(tmpdir(), 'oncely-tests-'))
  const together = files.filter((file) => !hasToBeAlone(file))
  const groups: string[] = []
  for (let start = 0; start < together.length; start += TOGETHER) {
    const lines = together
      .slice(start, start + TOGETHER)
      .map((file) => `import ${JSON.stringify(pathToFileURL(resolve(file)).href)}\n`)
    const group = join(folder, `${String(start).padStart(4, '0')}.mjs`)
    writeFileSync(group, lines.join(''))
    groups.push(group)
  }
  return {
    files: [...groups, ...files.filter(hasToBeAlone)],
    remove() {
      rmSync(folder, { recursive: true })
    },
  }
}

/**
 * A file whose tests are known late: those of the others would have begun by then. Or one that changes what all of
 * a process share, such as its clock.
 */
function hasToBeAlone(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  const isLate = /^(?:(?:export )?(?:const|let) .* = )?await /m.test(text)
  return isLate || /\bmock\.(?:method\((?:Date|Math|globalThis)\b|timers\b)/.test(text)
}
