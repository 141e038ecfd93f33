/** What a progress line is written to: a terminal, or something that is none. */
interface Screen {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** A line that is rewritten in place. On anything but a terminal there is none. */
export interface Progress {
  /** Shows a text instead of the one before. */
  show(text: string): void
  /** Takes it away, so that something else can be written. */
  clear(): void
}

const START_OF_LINE_AND_ERASE = '\r\u001b[K'

/** Makes the progress line of a screen. */
export function progressOn(screen: Screen): Progress {
  let shown = false
  const rewrite = (text: string) => screen.write(START_OF_LINE_AND_ERASE + text)
  return {
    show(text) {
      if (!screen.isTTY) return
      rewrite(text)
      shown = true
    },
    clear() {
      if (shown) rewrite('')
      shown = false
    },
  }
}
