/** A signal that aborts when the process is asked to stop. */
export interface StopSignal extends Disposable {
  readonly signal: AbortSignal
}

const asked = ['SIGTERM', 'SIGINT'] as const

/**
 * Hears the first SIGTERM or SIGINT, to stop cleanly by. A second one ends the process at once, as
 * if nobody listened.
 */
export function stopSignal(): StopSignal {
  const stop = new AbortController()
  const deafen = () => {
    for (const name of asked) process.off(name, hear)
  }
  const hear = () => {
    // First: who is told of the stop may send the second signal at once.
    deafen()
    stop.abort()
  }
  for (const name of asked) process.on(name, hear)
  return { signal: stop.signal, [Symbol.dispose]: deafen }
}
