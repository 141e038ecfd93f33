import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { Client } from 'pg'

import { median } from '../measure/statistics.ts'

/** What the client waits for `select 1`, in milliseconds. */
export interface NetworkFigures {
  readonly wantedMs: number
  readonly directMs: number
  readonly delayedMs: number
}

export interface DelayedNetwork {
  /** The same database, further away. */
  through(url: string): string
  stop(): Promise<void>
}

/** @param roundTripMs - half of it in each direction. */
export async function startDelayedNetwork(
  url: string,
  roundTripMs: number,
): Promise<DelayedNetwork> {
  const { hostname, port } = new URL(url)
  const script = join(import.meta.dirname, 'delay-process.ts')
  const child = fork(script, [hostname, port, String(roundTripMs / 2)])
  const [listening] = (await once(child, 'message')) as [number]
  return {
    through: (direct) => Object.assign(new URL(direct), { port: String(listening) }).href,
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

export async function measureNetwork(
  url: string,
  network: DelayedNetwork,
  wantedMs: number,
): Promise<NetworkFigures> {
  const directMs = await roundTripOf(url)
  return { wantedMs, directMs, delayedMs: await roundTripOf(network.through(url)) }
}

async function roundTripOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const times: number[] = []
  for (let index = 0; index < 300; index += 1) {
    const begun = performance.now()
    await client.query('select 1')
    times.push(performance.now() - begun)
  }
  await client.end()
  // The first hundred warm up.
  return median(times.slice(100))
}
