// `npm run test:consumers`: packs the package and lives with it in empty projects of other people's:
// install, migrate by the command, the four branches, every entry point.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { transformSync } from 'esbuild'
import { Client } from 'pg'

import { startTestServer } from '../support/database-server.ts'
import { urlOf } from '../support/test-run.ts'
import { type Project, projects } from './projects.ts'

const root = join(import.meta.dirname, '..', '..')
const expected = [
  'executed 1970-01-01T00:00:00.000Z',
  'replayed 1970-01-01T00:00:00.000Z',
  'conflict',
  'expired',
  'applied',
  'invalid_key',
  '',
].join('\n')

function run([command = '', ...args]: readonly string[], cwd: string, url?: string): string {
  const env = { ...process.env, NODE_ENV: '', ...(url && { DATABASE_URL: url }) }
  return execFileSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Installs, migrates and runs one project; says what went wrong, or undefined. */
function live(project: Project, folder: string, tarball: string, url: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    for (const [file, text] of Object.entries(project.files))
      writeFileSync(join(folder, file), text)
    const packages = [tarball, 'kysely@0.29.9', 'pg@8.23.1', ...project.packages]
    run(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], folder)
    run(['npx', 'oncely', 'migrate', '--url', url], folder)
    const output = project.commands.map((command) => run(command, folder, url)).at(-1)
    return output === expected ? undefined : `printed:\n${output}`
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & Record<string, string>
    return `${message}\n${stdout}${stderr}`
  }
}

async function newDatabase(serverUrl: string, name: string): Promise<string> {
  const admin = new Client({ connectionString: serverUrl })
  await admin.connect()
  await admin.query(`drop database if exists ${name} with (force)`)
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = urlOf(serverUrl, name)
  const host = new Client({ connectionString: url })
  await host.connect()
  await host.query('create table notes (id text primary key, body text not null)')
  await host.end()
  return url
}

const folder = mkdtempSync(join(tmpdir(), 'oncely-consumers-'))
const server = await startTestServer()
let failed = 0
try {
  const packed = run(['npm', 'pack', '--pack-destination', folder, '--json'], root)
  const [{ filename, unpackedSize }] = JSON.parse(packed.slice(packed.indexOf('['))) as [
    { filename: string; unpackedSize: number },
  ]
  console.log(`installed size: ${unpackedSize} bytes`)
  // Whether every entry point resolves, and to the right types; CommonJS requires the ES modules.
  const tarball = join(folder, filename)
  run(['publint', 'run', tarball, '--strict'], root)
  run(['attw', tarball, '--profile', 'esm-only'], root)
  console.log('ok: publint and attw')
  const program = readFileSync(join(import.meta.dirname, 'program.ts'), 'utf8')
  const { code } = transformSync(program, { loader: 'ts', format: 'esm', target: 'es2023' })
  const all = projects(program, code)
  for (const [index, project] of all.entries()) {
    const url = await newDatabase(server.url, `oncely_consumer_${index}`)
    const problem = live(project, join(folder, `project-${index}`), tarball, url)
    console.log(`${problem === undefined ? 'ok' : 'FAILED'}: ${project.name}`)
    if (problem !== undefined) console.log(problem)
    failed += problem === undefined ? 0 : 1
  }
  console.log(`consumers: ${all.length - failed} passed, ${failed} failed`)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed === 0 ? 0 : 1
