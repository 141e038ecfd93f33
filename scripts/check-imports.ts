// Fails when a file imports against the direction that the rooms of `src` have. The flow of a
// request goes down this list; what a room may import stands behind it.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Imported by everybody, and importing nobody but each other. */
const leaves = ['errors', 'checks', 'scope', 'options', 'result', 'json-value', 'backoff']

/** Room, or file at the top of src without its ending → the rooms it may import. */
const directions: Readonly<Record<string, readonly string[]>> = {
  index: [
    'idempotency',
    'create-idempotency',
    'sweeper',
    'batches',
    'with-idempotency',
    'call',
    'records',
    'outbox',
    'response',
    'fingerprint',
    'operation',
    'shape',
    ...leaves,
  ],
  node: ['http'],
  hono: ['http'],
  express: ['http'],
  fastify: ['http'],
  nestjs: ['http'],
  client: leaves,
  http: ['idempotency', 'call', 'fingerprint', 'response', 'shape', ...leaves],
  sweeper: ['idempotency', 'batches', 'backoff', ...leaves],
  idempotency: [
    'batches',
    'call',
    'fingerprint',
    'operation',
    'records',
    'response',
    'shape',
    ...leaves,
  ],
  'create-idempotency': [
    'idempotency',
    'with-idempotency',
    'batches',
    'call',
    'records',
    'response',
    'fingerprint',
    'postgres',
    'operation',
    'shape',
    ...leaves,
  ],
  'with-idempotency': ['call', 'records', 'fingerprint', 'postgres', 'operation', ...leaves],
  shape: ['call', 'operation', 'response', ...leaves],
  operation: ['response', ...leaves],
  call: ['records', 'response', 'outbox', 'fingerprint', 'postgres', 'operation', ...leaves],
  records: ['outbox', 'fingerprint', 'postgres', 'response', ...leaves],
  batches: ['postgres', ...leaves],
  response: leaves,
  outbox: ['postgres', ...leaves],
  fingerprint: leaves,
  sink: ['postgres', 'batches', ...leaves],
  pg: ['postgres'],
  postgres: ['codegen', ...leaves],
  migrations: ['migrate', 'doctor'],
  migrate: ['postgres', 'migrations/', ...leaves],
  testing: ['postgres', ...leaves],
  doctor: ['migrate', 'postgres', 'codegen', 'migrations/', ...leaves],
  cli: ['sweeper', 'batches', 'create-idempotency', 'migrate', 'doctor', 'postgres', ...leaves],
  backoff: [],
  errors: [],
  scope: ['errors'],
  result: [],
  'json-value': ['errors'],
  options: ['checks', 'scope'],
  checks: ['errors'],
}

/** `src/call/execute.ts` → `call`, `src/index.ts` → `index`, `migrations/index.ts` → `migrations/`. */
function roomOf(file: string): string {
  const [top, ...rest] = file.split('/')
  if (top !== 'src') return top === 'migrations' ? 'migrations/' : String(top)
  return String(rest[0]).replace(/\.ts$/, '')
}

const problems: string[] = []
for (const file of globSync(['src/**/*.ts', 'migrations/*.ts'], { cwd: root })) {
  const room = roomOf(file)
  const allowed = room === 'migrations/' ? [] : directions[room]
  if (!allowed) problems.push(`${file}: the room '${room}' has no direction; add it here`)
  for (const [, specifier] of readFileSync(join(root, file), 'utf8').matchAll(
    /\b(?:from|import)\s*\(?\s*'([^']+)'/g,
  )) {
    if (specifier === undefined) continue
    if (room === 'migrations/' && !/^(kysely(\/|$)|\.\/)/.test(specifier)) {
      problems.push(`${file}: migrations import only kysely, and not ${specifier}`)
    }
    if (!specifier.startsWith('.')) continue
    const target = roomOf(relative(root, join(root, dirname(file), specifier)))
    if (target !== room && !allowed?.includes(target)) {
      problems.push(`${file}: '${room}' must not import '${target}'`)
    }
  }
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log('imports: every direction is kept')
