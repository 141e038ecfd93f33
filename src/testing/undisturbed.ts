import { randomUUID } from 'node:crypto'

import { invalid } from '../checks.ts'
import { type Fault, startFaultProxy } from './fault-proxy.ts'
import { isFirst } from './judge.ts'
import type { Reading } from './reading.ts'
import { notFinal } from './retry-until-final.ts'
import type { Subject } from './subject.ts'

/** A call at which nothing strikes. */
export interface Undisturbed {
  /** Every message of it, and both sides of each. */
  readonly places: readonly Omit<Fault, 'kind'>[]
  /** Whether it was told that it was the first, so that under a fault some call has to be. */
  readonly first: boolean
}

/** Makes the call once, and waits for it as long as it takes. */
export async function undisturbed<Result>(
  subject: Subject<Result>,
  read: (result: Result) => Reading,
): Promise<Undisturbed> {
  const key = randomUUID()
  await subject.prepare?.(key)
  const proxy = await startFaultProxy(subject.url)
  try {
    const opened = subject.open(proxy.url)
    try {
      const result = await opened.call(key)
      const places = placesOf(proxy.messages)
      if (places.length === 0) {
        throw invalid(
          'nothing has come through the proxy: open must connect to the url it is given',
        )
      }
      const reading = read(result)
      if (reading.says === 'again' || reading.says === 'unknown') {
        throw notFinal('no last word although nothing strikes', { result })
      }
      return { places, first: isFirst(reading) }
    } finally {
      await opened.close()
    }
  } finally {
    await proxy.close()
  }
}

function placesOf(messages: readonly Pick<Fault, 'direction'>[]): Undisturbed['places'] {
  const seen = { 'to server': 0, 'to client': 0 }
  return messages.flatMap(({ direction }) => {
    const message = (seen[direction] += 1)
    return (['before', 'after'] as const).map((side) => ({ direction, message, side }))
  })
}
