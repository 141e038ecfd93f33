import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { type Dialect, Kysely, PostgresDialect, type PostgresDialectConfig } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { Host } from './database.ts'

/** The part of a kysely-ctl configuration that says which database. */
interface KyselyConfigFile {
  readonly kysely?: OrFactory<Kysely<unknown>>
  readonly dialect?: OrFactory<Dialect> | string
  readonly dialectConfig?: OrFactory<PostgresDialectConfig>
}

type OrFactory<Value> = Value | (() => Value | Promise<Value>)

const endings = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs']

/**
 * The database of the host's `kysely.config.ts`, the file of kysely-ctl, in the folder or in its
 * `.config`; with the variables of the folder's `.env`, which kysely-ctl loads too. Its environments
 * (`$production` and so on) are not looked at.
 *
 * @returns `undefined` when there is no such file.
 * @throws OncelyError `invalid_options` when it cannot be loaded or names no PostgreSQL.
 */
export async function hostOfConfig(folder: string): Promise<Host | undefined> {
  const file = [join(folder, '.config'), folder]
    .flatMap((place) => endings.map((ending) => join(place, `kysely.config.${ending}`)))
    .find((path) => existsSync(path))
  if (file === undefined) return undefined
  try {
    const variables = join(folder, '.env')
    if (existsSync(variables)) process.loadEnvFile(variables)
    return await hostOf(await load(file, folder))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OncelyError('invalid_options', `${file}: ${reason}`, { cause })
  }
}

/** By the loader of the host's kysely-ctl, which knows every kind of TypeScript; else by Node's. */
async function load(file: string, folder: string): Promise<KyselyConfigFile> {
  const loader = hostLoader(folder)
  const loaded: unknown = loader
    ? await loader.createJiti(pathToFileURL(file).href).import(file, { default: true })
    : ((await import(pathToFileURL(file).href)) as { default: unknown }).default
  return made(loaded as OrFactory<KyselyConfigFile>)
}

interface Jiti {
  createJiti(from: string): { import(file: string, options: { default: true }): Promise<unknown> }
}

function hostLoader(folder: string): Jiti | undefined {
  try {
    const kyselyCtl = createRequire(join(folder, 'package.json')).resolve('kysely-ctl')
    return createRequire(kyselyCtl)('jiti') as Jiti
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    return undefined
  }
}

async function hostOf({ kysely, dialect, dialectConfig }: KyselyConfigFile): Promise<Host> {
  if (kysely) return { db: await made(kysely) }
  if (dialect === 'pg' && dialectConfig) {
    const config = await made(dialectConfig)
    const pool = await made(config.pool)
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ ...config, pool }) })
    return 'options' in pool ? { db, pool } : { db }
  }
  if (dialect && typeof dialect !== 'string') {
    return { db: new Kysely<unknown>({ dialect: await made(dialect) }) }
  }
  throw new Error("it has neither a 'kysely' nor a 'dialect' for PostgreSQL; give --url instead")
}

async function made<Value>(value: OrFactory<Value>): Promise<Value> {
  return typeof value === 'function' ? (value as () => Value | Promise<Value>)() : value
}
