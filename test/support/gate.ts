/** A point where one side waits until the other lets it go on. Leaving its block opens it. */
export interface Gate extends Disposable {
  /** Resolves when somebody waits at the gate. */
  readonly reached: Promise<void>
  /** Waits until the gate is open. */
  readonly pass: () => Promise<void>
  readonly open: () => void
}

export function gate(): Gate {
  const reached = Promise.withResolvers<undefined>()
  const opened = Promise.withResolvers<undefined>()
  const open = () => {
    opened.resolve(undefined)
  }
  return {
    reached: reached.promise.then(() => undefined),
    async pass() {
      reached.resolve(undefined)
      await opened.promise
    },
    open,
    [Symbol.dispose]: open,
  }
}
