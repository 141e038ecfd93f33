/** One project of somebody else's, on the packed tarball. */
export interface Project {
  readonly name: string
  /** Written into the project; npm's own files come from npm. */
  readonly files: Readonly<Record<string, string>>
  /** Whether package.json says `"type": "module"`. */
  readonly type?: 'commonjs'
  /** Packages beside oncely, kysely and pg. */
  readonly packages: readonly string[]
  /** Run in the project before the others, instead of `npx oncely migrate`. */
  readonly migration?: readonly string[]
  /** Run in the project one after the other; the last one runs the program. */
  readonly commands: readonly (readonly string[])[]
  /** What the program prints, where it is another than of the others. */
  readonly prints?: string
}

const typescript = ['typescript@6.0.3', '@types/pg@8.23.1', '@types/node@24.19.4']
const esbuild = ['npx', 'esbuild', '--bundle', '--platform=node', '--format=esm']

function tsconfig(options: Record<string, unknown>): string {
  const always = { strict: true, exactOptionalPropertyTypes: true, target: 'es2023' }
  return JSON.stringify({
    compilerOptions: { ...always, types: ['node'], outDir: 'out', ...options },
    files: ['program.ts'],
  })
}

/** A host with kysely-ctl, for which our tables are one migration among its own. */
const kyselyCtl = {
  'kysely.config.ts': `import { PostgresDialect } from 'kysely'
import { defineConfig } from 'kysely-ctl'
import { Pool } from 'pg'
const pool = new Pool({ connectionString: process.env.DATABASE_URL })
export default defineConfig({ dialect: new PostgresDialect({ pool }) })`,
  'migrations/2026_oncely.ts': `import type { Kysely } from 'kysely'
import { migrateDown, migrateToLatest } from 'oncely/migrations'
export async function up(db: Kysely<unknown>) {
  await migrateToLatest(db)
}
export async function down(db: Kysely<unknown>) {
  await migrateDown(db, { steps: Infinity })
}`,
}
const byKyselyCtl = ['npx', 'kysely', 'migrate', 'latest', '--no-outdated-check']

/** The imports of the program as CommonJS has them, and no await at the top. */
function commonJs(script: string): string {
  const required = script.replaceAll(/^import (.+) from (".+");$/gm, 'const $1 = require($2)')
  return `(async () => {\n${required}\n})()`
}

/**
 * @param program - the program in TypeScript.
 * @param script - the same without types, an ES module.
 * @param nest - the program of a NestJS host.
 * @param http - the program of a host with routes, and the files it imports.
 * @param adopting - the commands that README has for a service that is there already.
 */
export function projects(
  program: string,
  script: string,
  nest: string,
  http: Readonly<Record<string, string>>,
  adopting: readonly (readonly string[])[],
): readonly Project[] {
  return [
    {
      name: 'TypeScript, strict, NodeNext, libraries checked',
      files: {
        'program.ts': program,
        'tsconfig.json': tsconfig({ module: 'nodenext', skipLibCheck: false }),
      },
      packages: typescript,
      commands: [
        ['npx', 'tsc'],
        ['node', 'out/program.js'],
      ],
    },
    {
      name: 'TypeScript, strict, Bundler',
      files: {
        'program.ts': program,
        'tsconfig.json': tsconfig({ module: 'preserve', noEmit: true }),
      },
      packages: [...typescript, 'esbuild@0.28.2'],
      commands: [
        ['npx', 'tsc'],
        [...esbuild, '--packages=external', '--outfile=out/program.js', 'program.ts'],
        ['node', 'out/program.js'],
      ],
    },
    {
      name: 'JavaScript, ES modules',
      files: { 'program.js': script },
      packages: [],
      commands: [['node', 'program.js']],
    },
    {
      name: 'JavaScript, CommonJS through require',
      files: { 'program.cjs': commonJs(script) },
      packages: [],
      commands: [['node', 'program.cjs']],
    },
    {
      name: 'bundled whole by esbuild, run where there is no package',
      files: { 'program.js': script },
      packages: ['esbuild@0.28.2'],
      commands: [
        [
          ...esbuild,
          // pg is CommonJS and asks for node's own modules by require.
          '--banner:js=import{createRequire}from"node:module";const require=createRequire("/");',
          '--external:pg-native',
          '--outfile=../bundle/program.mjs',
          'program.js',
        ],
        ['node', '../bundle/program.mjs'],
      ],
    },
    {
      name: 'bundled by esbuild where pg, an optional peer, is not installed',
      files: {
        'program.js': script,
        'without.js': 'import { oncelyDialect } from "oncely/pg"\noncelyDialect({})',
      },
      packages: ['esbuild@0.28.2'],
      commands: [
        ['mv', 'node_modules/pg', 'node_modules/.pg'],
        [...esbuild, '--outfile=without.mjs', 'without.js'],
        ['node', 'without.mjs'],
        ['mv', 'node_modules/.pg', 'node_modules/pg'],
        ['node', 'program.js'],
      ],
    },
    {
      name: 'D17: a migration of the host by kysely-ctl, ES modules',
      files: { ...kyselyCtl, 'program.js': script },
      packages: ['kysely-ctl@0.21.0'],
      migration: byKyselyCtl,
      commands: [['node', 'program.js']],
    },
    {
      name: 'D17: a migration of the host by kysely-ctl, CommonJS',
      type: 'commonjs',
      files: { ...kyselyCtl, 'program.js': commonJs(script) },
      packages: ['kysely-ctl@0.21.0'],
      migration: byKyselyCtl,
      commands: [['node', 'program.js']],
    },
    {
      name: 'NestJS, TypeScript to CommonJS',
      type: 'commonjs',
      files: {
        'program.ts': nest,
        // As `nest new` writes it.
        'tsconfig.json': tsconfig({
          module: 'nodenext',
          target: 'ES2023',
          emitDecoratorMetadata: true,
          experimentalDecorators: true,
          skipLibCheck: true,
        }),
      },
      packages: [
        ...typescript,
        '@nestjs/common@11',
        '@nestjs/core@11',
        'reflect-metadata@0.2',
        'rxjs@7',
      ],
      commands: [
        ['npx', 'tsc'],
        ['node', 'out/program.js'],
      ],
    },
    ...['12.5.0', '11'].map((nest) => routes(http, nest)),
    {
      name: 'every command of "Adopting it in an existing service" in README',
      files: { 'program.js': script },
      packages: [],
      migration: ['true'],
      commands: [...adopting, ['node', 'program.js']],
    },
    {
      name: 'D18: required and imported in one process',
      files: {
        'program.cjs': `const { OncelyError, isOncelyError, fingerprint } = require('oncely')
import('oncely').then((imported) => {
  for (const [thrower, catcher] of [[fingerprint, imported], [imported.fingerprint, require('oncely')]]) {
    try { thrower(NaN, { version: 1 }) } catch (error) {
      if (!catcher.isOncelyError(error) || !(error instanceof catcher.OncelyError)) throw error
    }
  }
  ${commonJs(script)}
})`,
      },
      packages: [],
      commands: [['node', 'program.cjs']],
    },
  ]
}

/** README's routes, with that version of NestJS. */
function routes(http: Readonly<Record<string, string>>, nest: string): Project {
  return {
    name: `routes on Express, Fastify, NestJS ${nest}, Hono, node and fetch, and the client, libraries checked`,
    files: {
      ...http,
      'tsconfig.json': tsconfig({
        module: 'nodenext',
        rewriteRelativeImportExtensions: true,
        experimentalDecorators: true,
        skipLibCheck: false,
      }),
    },
    packages: [
      ...[...typescript, 'express@5.3.0', '@types/express@5.0.6', 'hono@4.13.19', 'fastify@5.12.8'],
      ...['common', 'core', 'platform-express', 'platform-fastify'].map(
        (name) => `@nestjs/${name}@${nest}`,
      ),
      ...['reflect-metadata@0.2.2', 'rxjs@7.8.2'],
    ],
    commands: [
      ['npx', 'tsc'],
      ['node', 'out/program.js'],
    ],
    prints: ['express', 'fastify', 'nestjs', 'nestjs-fastify', 'hono', 'node', 'fetch']
      .map((name) => `${name} 201 201 first true 1\n`)
      .concat('client 201 first\n', 'client 201 true\n')
      .join(''),
  }
}
