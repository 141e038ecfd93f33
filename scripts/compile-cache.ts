import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../node_modules/.cache/oncely-compiled')

/** Many times what the sources and their packages are. */
const MOST_FILES = 10_000

/**
 * Where Node keeps what it has compiled, and is to find it in the next process: to compile everything anew
 * is most of what a test file does. What has changed it compiles again.
 */
export function compileCache(): string {
  try {
    // What tests write into temporary folders is kept as well, and never asked for again.
    const kept = readdirSync(folder, { recursive: true }).length
    if (kept > MOST_FILES) rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return folder
}
