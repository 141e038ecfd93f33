import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

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
