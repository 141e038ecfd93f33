import { join } from 'node:path'
import { after, before } from 'node:test'

import { build } from 'esbuild'

import { type Chromium, startChromium } from './chromium.ts'
import { type PageServer, startPageServer } from './page-server.ts'
import type { scenarios } from './scenarios.ts'

type Scenarios = typeof scenarios

/** Longer than any of it takes; only a test that would fail anyway comes to it. */
const PATIENCE_MS = 60_000

/** A page in a real browser, with `oncely/client` in its script. */
export interface BrowserPage {
  /** Where it comes from. */
  readonly origin: string
  /** Plays one scenario in it, beside those that are played already. */
  play<Name extends keyof Scenarios>(
    name: Name,
    ...given: Parameters<Scenarios[Name]>
  ): ReturnType<Scenarios[Name]>
  /** Resolves when the page is gone, amid all it did, and there again. */
  reload(): Promise<void>
}

/**
 * To be called at the top of a test file, which has the page for as long as its tests run.
 *
 * @param host - a name that ends with `.test` is this machine, and no page that browsers trust.
 */
export function browserPage(host = '127.0.0.1'): BrowserPage {
  let server: PageServer
  let chromium: Chromium | undefined
  before(async () => {
    server = await startPageServer(await pageScript())
    const started = startChromium(`http://${host}:${server.port}/`)
    chromium = started
    void started.gone.then(() => {
      server.fail(new Error(`the browser is gone: ${started.log()}`))
    })
  })
  after(async () => {
    await chromium?.stop()
    await server.close()
  })

  const within = async <T>(what: string, answer: Promise<T>): Promise<T> => {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new Error(`the page does not answer to ${what}: ${chromium?.log() ?? ''}`))
    }, PATIENCE_MS)
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    get origin() {
      return `http://${host}:${server.port}`
    },
    play: (name, ...given) =>
      within(name, server.ask(name, given)) as ReturnType<Scenarios[typeof name]>,
    reload: () => within('reload', server.reload()),
  }
}

/** The client as a bundler for browsers takes it, which fails where it needs anything of Node's. */
async function pageScript(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: join(import.meta.dirname, '../..'),
    entryPoints: ['test/browser/page.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  return String(outputFiles[0]?.text)
}
