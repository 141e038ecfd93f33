import { OVER, within } from '../postgres/within.ts'
import { type Fault, startFaultProxy } from './fault-proxy.ts'
import { callUntilFinal, type RetryOptions, type ToldCall } from './retry-until-final.ts'
import type { Subject } from './subject.ts'

/** What became of one intent. */
interface Outcome<Result> {
  /** Whether the fault struck. */
  readonly struck: boolean
  readonly calls: readonly ToldCall<Result>[]
  /** Whether the pool could be closed. */
  readonly closed: boolean
}

/** Lets one fault strike at a call, and retries until a call has a last word. */
export async function underFault<Result>(
  subject: Pick<Subject<Result>, 'url' | 'open'>,
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
  await within(PATIENCE_MS, Promise.all(retried.map(({ ended }) => ended)))
  // Whatever has struck, the pool is as good as before.
  const again = await callUntilFinal(call, options)
  const closed = await within(PATIENCE_MS, opened.close())
  await proxy.close()
  return { struck: struck(), calls: [...retried, ...again], closed: closed !== OVER }
}

/** The first retry meets a call that is held up, the second one that has gone on. */
const RETRIES_MEET_STALLED = 1
/**
 * Then the system of the server notices that its peer is gone, as it does by TCP's keepalive.
 * PostgreSQL itself does so where it waits for a statement, and not between Execute and Sync.
 */
const RETRIES_MEET_HALF_OPEN = 30
/** For what would have to be over at once. */
const PATIENCE_MS = 10_000
