import { OVER, within } from '../postgres/within.ts'
import { callUntilFinal, type Manner, type ToldCall } from './calls.ts'
import type { Fault } from './fault.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { countEffects, type Opened, type Subject } from './subject.ts'

/** What became of one intent. */
interface Struck<Result> {
  /** Whether the fault struck before a call had a last word. */
  readonly struck: boolean
  /** Until one had a last word, and then again. */
  readonly calls: readonly ToldCall<Result>[]
  /** How often the business had taken effect by the last word. */
  readonly found: number
}

/** The same, and what became of the pool. */
export interface Outcome<Result> extends Struck<Result> {
  /** Why it could not be closed, if it could not. */
  readonly unclosed: string | undefined
}

/** How long a call or a pool may take to end behind the last word, unless it is said. */
export const END_MS = 30_000

/** Lets one fault strike at a call, and retries until a call has a last word. */
export async function underFault<Result>(
  subject: Pick<Subject<Result>, 'url' | 'open' | 'effects'>,
  fault: Fault,
  key: string,
  manner: Manner<Result>,
  endMs = END_MS,
): Promise<Outcome<Result>> {
  const proxy = await startFaultProxy(subject.url)
  try {
    const opened = await subject.open(proxy.url)
    const call = () => opened.call(key)
    const effects = () => countEffects(subject, key)
    try {
      const struck = await strikeAt(call, effects, proxy, fault, manner, endMs)
      return { ...struck, unclosed: await close(opened, endMs) }
    } catch (error) {
      await close(opened, endMs)
      throw error
    }
  } finally {
    await proxy.close()
  }
}

async function strikeAt<Result>(
  call: () => Promise<Result>,
  effects: () => Promise<number>,
  proxy: FaultProxy,
  fault: Fault,
  manner: Manner<Result>,
  endMs: number,
): Promise<Struck<Result>> {
  const planned = proxy.inject(fault)
  const onRetry = (made: number) => {
    if (fault.kind === 'stalled' && made > RETRIES_MEET_STALLED) proxy.release()
    if (fault.kind === 'half-open' && made > RETRIES_MEET_HALF_OPEN) proxy.release()
  }
  const retried = await callUntilFinal(call, { ...manner, onRetry })
  planned.withdraw()
  const struck = (await within(endMs, planned.struck)) === true
  proxy.release()
  await within(endMs, Promise.all(retried.map(({ ended }) => ended)))
  const found = await effects()
  // Whatever has struck, the pool is as good as before.
  const again = await callUntilFinal(call, manner)
  return { struck, calls: [...retried, ...again], found }
}

async function close<Result>(opened: Opened<Result>, ms: number): Promise<string | undefined> {
  const closing = async () => opened.close()
  try {
    return (await within(ms, closing())) === OVER ? 'it did not end' : undefined
  } catch (error) {
    return String(error)
  }
}

/** The first retry meets a call that is held up, the second one that has gone on. */
const RETRIES_MEET_STALLED = 1
/**
 * Then the system of the server notices that its peer is gone, as it does by TCP's keepalive.
 * PostgreSQL itself does so where it waits for a statement, and not between Execute and Sync.
 */
const RETRIES_MEET_HALF_OPEN = 30
