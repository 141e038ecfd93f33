import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collector: (() => void) | undefined

/** Node has it only behind a flag, which nothing else that is measured is to run with. */
function collectGarbage(): void {
  if (!collector) {
    setFlagsFromString('--expose-gc')
    collector = runInNewContext('gc') as () => void
  }
  collector()
}

/** What is reachable, in bytes: of JavaScript, and of the buffers that it holds. */
export async function reachable(): Promise<number> {
  // What one collection lets go of, such as by a finaliser, the next one collects.
  for (let pass = 0; pass < 3; pass += 1) {
    await nextTurn()
    collectGarbage()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
