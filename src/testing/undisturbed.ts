import { randomUUID } from 'node:crypto'

import { invalid } from '../checks.ts'
import type { Fault } from './fault.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { isFirst } from './judge.ts'
import type { SeenMessage } from './messages.ts'
import type { Reading } from './reading.ts'
import { notFinal } from './retry-until-final.ts'
import { countEffects, type Subject } from './subject.ts'

/** Where a fault strikes. */
export interface Place extends Omit<Fault, 'kind'> {
  /** The same in words, such as `Execute of insert into orders …`. */
  readonly at: string
}

/** A call at which nothing strikes. */
export interface Undisturbed {
  /** Every message of it, and both sides of each. */
  readonly places: readonly Place[]
  /** Whether it was told that it was the first, so that under a fault some call has to be. */
  readonly first: boolean
}

/** Makes the call once, and waits for it as long as it takes. */
export async function undisturbed<Result>(
  subject: Subject<Result>,
  read: (result: Result) => Reading,
  expected: number,
): Promise<Undisturbed> {
  const key = randomUUID()
  await subject.prepare?.(key)
  if (!subject.prepare && (await countEffects(subject, key)) > 0) {
    throw invalid('effects are there of a key that nobody has used')
  }
  const proxy = await startFaultProxy(subject.url)
  try {
    const opened = await subject.open(proxy.url)
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
      const found = await countEffects(subject, key)
      if (found !== expected) {
        throw invalid(`${found} effects are there where nothing strikes, and not ${expected}`)
      }
      return { places, first: isFirst(reading) }
    } finally {
      await opened.close()
    }
  } finally {
    await proxy.close()
  }
}

function placesOf(messages: readonly SeenMessage[]): readonly Place[] {
  const seen = { 'to server': 0, 'to client': 0 }
  let under = 'the start of the session'
  return messages.flatMap(({ direction, type, statement }) => {
    const message = (seen[direction] += 1)
    if (statement !== undefined) under = statement.replaceAll(/\s+/g, ' ').slice(0, SHOWN)
    const at = `${type} of ${under}`
    return (['before', 'after'] as const).map((side) => ({ direction, message, side, at }))
  })
}

/** Of a statement, to tell it from others. */
const SHOWN = 60
