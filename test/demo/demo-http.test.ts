import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')

/** Status lines and markers of what curl shows. */
function seen(output: string): string[] {
  return output
    .split(/\r?\n/)
    .flatMap((line) => /^HTTP\/1.1 (\d+)|^(idempotent-replayed|retry-after): /i.exec(line) ?? [])
    .filter((part, place) => place % 3 !== 0 && (part as string | undefined) !== undefined)
}

describe('npm run demo:http', () => {
  it('prints lines for curl that do as they say', async () => {
    const demo = spawn(process.execPath, ['--import', 'tsx', 'examples/demo-http/main.ts'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(demo, 'exit')
    try {
      let output = ''
      for await (const text of demo.stdout.setEncoding('utf8')) {
        output += String(text)
        if (output.split('\ncurl').length + output.split('\n(curl').length >= 6) break
      }
      match(output, /^orders on http:\/\/127\.0\.0\.1:\d+, until Ctrl\+C\n/)
      const lines = output.split('\n').filter((line) => /^\(?curl /.test(line))
      strictEqual(lines.length, 4)
      const shown = lines.map((line) => {
        const { status, stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8' })
        strictEqual(status, 0, line)
        return stdout
      })
      deepStrictEqual(shown.map(seen), [
        ['201'],
        ['201', 'idempotent-replayed'],
        ['422'],
        ['409', 'retry-after', '201'],
      ])
      const [first = '', second = ''] = shown.map((text) => text.split('\r\n\r\n')[1])
      ok(first.includes('orderNumber'))
      strictEqual(second, first)
    } finally {
      demo.kill('SIGTERM')
      const [code] = (await ended) as [number | null]
      strictEqual(code, 0)
    }
  })
})
