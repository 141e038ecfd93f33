import type { Ground } from './ground.ts'
import { newIntent } from './intent.ts'
import { alternate } from './measure/rounds.ts'
import { contestant } from './sections/matrix.ts'
import { openHost } from './variants/hosts.ts'

const CALLERS = 16
const MS = 2_500

/**
 * Calls each variant for as long as V8 takes to compile what is called often, which a process that
 * serves has behind it. The fewer lines of JavaScript a variant has, the less it would matter to it.
 */
export async function warmUp(ground: Ground): Promise<void> {
  const host = openHost(ground.url(0), CALLERS)
  try {
    const names = ['bare', 'naive', 'three commits', 'by hand', 'oncely']
    const contestants = names.flatMap((name) => contestant(host, name, newIntent, 'executed'))
    // The round that counts for nothing is enough.
    await alternate(contestants, CALLERS, { rounds: 0, roundMs: MS })
  } finally {
    await host.close()
  }
}
