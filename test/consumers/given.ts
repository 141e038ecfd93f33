// What the projects are given of README and of the examples.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** A file of this folder. */
export function textOf(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
}

/** README's examples of routes, and the program that calls them. */
export function httpFiles(): Readonly<Record<string, string>> {
  const files: Record<string, string> = { 'program.ts': textOf('http-program.ts') }
  const routes = ['idempotency', 'express', 'fastify', 'nestjs', 'hono', 'node', 'fetch'].map(
    (name) => `http/${name}.ts`,
  )
  for (const file of ['quick-start.ts', ...routes]) {
    files[file] = readFileSync(join(root, 'examples', file), 'utf8')
  }
  return files
}

/** The commands of README's section for services that are there already; of oncely, this tarball. */
export function adoptingCommands(tarball: string): readonly (readonly string[])[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, section = ''] = /^## Adopting it[^\n]*\n([^]*?)^### /m.exec(readme) ?? []
  const blocks = [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, text = '']) => text)
  const lines = blocks.flatMap((text) => text.trim().split('\n'))
  if (lines.length < 6) throw new Error('README has lost commands')
  return lines.map((line) =>
    line
      .trim()
      .split(' ')
      .map((word, index) => (index > 1 && word === 'oncely' ? tarball : word)),
  )
}
