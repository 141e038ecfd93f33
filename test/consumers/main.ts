// `npm run test:consumers`: packs the package and lives with it in empty projects of other people's:
// install, migrate by the command, the four branches, every entry point; and the command on a server
// that is too old, and on the oldest one that is not. `npm run test:consumers -- TEXT` takes the projects
// whose name has that text.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { transformSync } from 'esbuild'
import { Client } from 'pg'

import { startTestServer } from '../support/database-server.ts'
import { startEmbeddedServer } from '../support/embedded-server.ts'
import { installServer, type OtherMajor } from '../support/server-package.ts'
import { urlOf } from '../support/test-run.ts'
import { adoptingCommands, httpFiles, textOf } from './given.ts'
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
    const manifest = { private: true, type: project.type ?? 'module' }
    const files = { ...project.files, 'package.json': JSON.stringify(manifest) }
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const packages = [tarball, 'kysely@0.29.9', 'pg@8.23.1', ...project.packages]
    run(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], folder)
    run(project.migration ?? ['npx', 'oncely', 'migrate'], folder, url)
    const output = project.commands.map((command) => run(command, folder, url)).at(-1)
    run(['npx', 'oncely', 'doctor'], folder, url)
    return output === (project.prints ?? expected) ? undefined : `printed:\n${output}`
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & Record<string, string>
    return `${message}\n${stdout}${stderr}`
  }
}

/** The commands of the first project on a real server of another major version. */
async function meetServer(
  folder: string,
  major: OtherMajor,
  expected: readonly (readonly [command: string, status: number, says: RegExp])[],
): Promise<string | undefined> {
  const installed = await installServer(major, join(folder, `postgres-${major}`))
  const server = await startEmbeddedServer(installed)
  try {
    for (const [command, status, says] of expected) {
      const ended = spawnSync('npx', ['oncely', command, '--url', server.url], {
        cwd: join(folder, 'project-0'),
        encoding: 'utf8',
      })
      const said = ended.stdout + ended.stderr
      if (ended.status !== status || !says.test(said)) return `${command}: ${ended.status}\n${said}`
    }
    return undefined
  } finally {
    await server.stop()
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
  const program = textOf('program.ts')
  const { code } = transformSync(program, { loader: 'ts', format: 'esm', target: 'es2023' })
  const [only = ''] = process.argv.slice(2)
  const all = projects(
    program,
    code,
    textOf('nest-program.ts'),
    httpFiles(),
    adoptingCommands(tarball),
  ).filter(({ name }) => name.includes(only))
  const tell = (name: string, problem: string | undefined) => {
    console.log(`${problem === undefined ? 'ok' : 'FAILED'}: ${name}`)
    if (problem === undefined) return
    console.log(problem)
    failed += 1
  }
  for (const [index, project] of all.entries()) {
    const url = await newDatabase(server.url, `oncely_consumer_${index}`)
    tell(project.name, live(project, join(folder, `project-${index}`), tarball, url))
  }
  const old = /PostgreSQL 13.*14 or newer/s
  const refused = [['migrate', 1, old] as const, ['doctor', 1, old] as const]
  if (all.length === 0) tell('a project of that name', 'there is none')
  tell('PostgreSQL 13 is refused', await meetServer(folder, 13, refused))
  const well = [['migrate', 0, /applied 0001/] as const, ['doctor', 0, /all is well/] as const]
  tell('PostgreSQL 14 is well', await meetServer(folder, 14, well))
  console.log(`consumers: ${all.length + 2 - failed} passed, ${failed} failed`)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed === 0 ? 0 : 1
