import { OVER, within } from '../postgres/within.ts'
import { type Fault, startFaultProxy } from './fault-proxy.ts'
import {
  callUntilFinal,
  PATIENCE_MS,
  type RetryOptions,
  type ToldCall,
} from './retry-until-final.ts'
import type { Subject } from './subject.ts'

/** What became of one intent. */
interface Outcome<Result> {
  /** Whether the fault struck. */
  readonly struck: boolean
  /** Until one had a last word, and then again. */
  readonly calls: readonly ToldCall<Result>[]
  /** How often the business had taken effect by the last word. */
  readonly found: number
  /** Whether the pool could be closed. */
  readonly closed: boolean
}

/** Lets one fault strike at a call, and retries until a call has a last word. */
export async function underFault<Result>(
  subject: Pick<Subject<Result>, 'url' | 'open' | 'effects'>,
  fault: Fault,
  key: string,
  options: RetryOptions<Result>,
): Promise<Outcome<Result>> {
  const proxy = await startFaultProxy(subject.url)
  const struck = proxy.inject(fault)
  const opened = subject.open(proxy.url)
  const call = () => opened.call(key)
  const onRetry = (made: number) => {
    if (fault.kind === 'stalled' && made > RETRIES_MEET_STALLED) proxy.release()
    if (fault.kind === 'half-open' && made > RETRIES_MEET_HALF_OPEN) proxy.release()
  }
  const retried = await callUntilFinal(call, { ...options, onRetry })
  proxy.release()
  const endMs = PATIENCES * (options.patienceMs ?? PATIENCE_MS)
  await within(endMs, Promise.all(retried.map(({ ended }) => ended)))
  const found = await subject.effects(key)
  // Whatever has struck, the pool is as good as before.
  const again = await callUntilFinal(call, options)
  const closed = await within(endMs, opened.close())
  await proxy.close()
  return { struck: struck(), calls: [...retried, ...again], found, closed: closed !== OVER }
}

/** The first retry meets a call that is held up, the second one that has gone on. */
const RETRIES_MEET_STALLED = 1
/**
 * Then the system of the server notices that its peer is gone, as it does by TCP's keepalive.
 * PostgreSQL itself does so where it waits for a statement, and not between Execute and Sync.
 */
const RETRIES_MEET_HALF_OPEN = 30
/** What is not over behind so many patiences of the caller never will be. */
const PATIENCES = 10
