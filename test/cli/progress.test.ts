import { strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { progressOn } from '../../src/cli/progress.ts'

describe('the progress line', () => {
  const written = (isTTY: boolean) => {
    let text = ''
    const progress = progressOn({ isTTY, write: (more: string) => (text += more) })
    progress.clear()
    progress.show('cleared 1')
    progress.show('cleared 2')
    progress.clear()
    progress.clear()
    return text
  }

  it('is rewritten in place on a terminal, and taken away', () => {
    strictEqual(written(true), '\r\u001b[Kcleared 1\r\u001b[Kcleared 2\r\u001b[K')
  })

  it('is not there on anything else', () => {
    strictEqual(written(false), '')
  })
})
