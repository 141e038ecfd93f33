import { deepStrictEqual, ok } from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { expectTypeOf } from 'expect-type'
import type { Fetch, FetchInit, IdempotentFetchOptions, KeptIntent } from 'oncely/client'
import ts from 'typescript'

const root = join(import.meta.dirname, '../..')

/** What the compiler says of a program, which is in no file. */
function errorsOf(source: string): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) =>
    ts.sys.readFile(file),
  ) as {
    config: object
  }
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root)
  const name = join(root, 'test/client/in-no-file.ts')
  const files = ts.createCompilerHost(options)
  const host: ts.CompilerHost = {
    ...files,
    getSourceFile: (file, ...more) =>
      file === name
        ? ts.createSourceFile(file, source, ts.ScriptTarget.ES2023)
        : files.getSourceFile(file, ...more),
    fileExists: (file) => file === name || files.fileExists(file),
    readFile: (file) => (file === name ? source : files.readFile(file)),
  }
  const program = ts.createProgram([name], options, host)
  return program
    .getSemanticDiagnostics(program.getSourceFile(name))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('the types of a client', () => {
  it('take any fetch', () => {
    expectTypeOf<typeof fetch>().toExtend<Fetch>()
    type Mock = (
      url: string,
      init?: { headers?: object },
    ) => PromiseLike<{
      status: number
      headers: Map<string, string> & { get(name: string): string | null }
      arrayBuffer(): Promise<ArrayBuffer>
    }>
    expectTypeOf<Mock>().toExtend<Fetch>()
    // As node-fetch has it: other contents, and other classes.
    type Other = (
      url: string | URL,
      init?: { method?: string; body?: Buffer | string | null; signal?: AbortSignal | null },
    ) => Promise<{
      status: number
      statusText: string
      url: string
      redirected: boolean
      type: 'basic' | 'error'
      headers: Iterable<[string, string]> & { get(name: string): string | null }
      arrayBuffer(): Promise<ArrayBuffer>
    }>
    expectTypeOf<Other>().toExtend<Fetch>()
    expectTypeOf<() => Promise<{ status: number }>>().not.toExtend<Fetch>()
    expectTypeOf<FetchInit['headers']>().toEqualTypeOf<Record<string, string>>()
  })

  it('take options that are undefined, and no intent without its key', () => {
    expectTypeOf<
      Record<keyof IdempotentFetchOptions, undefined>
    >().toExtend<IdempotentFetchOptions>()
    expectTypeOf<{ since: number }>().not.toExtend<KeptIntent>()
    expectTypeOf<{ key: undefined }>().not.toExtend<KeptIntent>()
  })

  it('take the fetch of undici', () => {
    const program = (given: string) => `
      import { fetch } from 'undici'
      import { createIdempotentFetch } from 'oncely/client'
      export const send = createIdempotentFetch({ fetch: ${given} })`
    deepStrictEqual(errorsOf(program('fetch')), [])
    ok(errorsOf(program('String')).length > 0)
  })
})
