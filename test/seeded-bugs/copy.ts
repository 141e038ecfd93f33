import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { SeededBug } from './bug.ts'

export const root = join(import.meta.dirname, '../..')

/** What the proofs are made of, and what they import. */
const copied = [
  ...['src', 'migrations', 'codegen', 'examples', 'scripts', 'test'],
  ...['package.json', 'tsconfig.json', 'kysely.config.ts'],
]

/** The project again, in a folder of its own. */
export interface Copy {
  readonly folder: string
  remove(): void
}

/** Copies what the proofs need, with a bug seeded, or as it is. */
export function makeCopy(bug?: SeededBug): Copy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'oncely-seeded-')))
  // The user that a server runs as has to enter it, too.
  chmodSync(folder, 0o755)
  const copy = {
    folder,
    remove() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true })
    linkModules(folder)
    if (bug) for (const [file, text] of seeded(bug)) writeFileSync(join(folder, file), text)
    return copy
  } catch (error) {
    copy.remove()
    throw error
  }
}

/** One by one, since proofs write to `.cache`, where those of two copies would meet. */
function linkModules(folder: string): void {
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(to)
  const names = readdirSync(from).filter((name) => name !== '.cache')
  for (const name of names) symlinkSync(join(from, name), join(to, name))
}

/**
 * The files of the project that a bug changes, by their path, as they are with it.
 *
 * @throws Error when the source is not there any more that the bug is seeded into.
 */
export function seeded({ name, edits }: SeededBug): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const { file, find, replace } of edits) {
    const text = files.get(file) ?? readFileSync(join(root, file), 'utf8')
    const [before, behind, ...more] = text.split(find)
    if (before === undefined || behind === undefined || more.length > 0) {
      const times = text.split(find).length - 1
      throw new Error(`'${name}': ${file} has ${times} times, and not once:\n${find}`)
    }
    files.set(file, before + replace + behind)
  }
  return files
}
