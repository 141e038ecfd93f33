import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { retryUntilFinal } from 'oncely/testing'

/** Answers by one after the other; a function is called, and what it throws is thrown. */
function answers(...given: readonly unknown[]) {
  let made = 0
  return () => {
    const answer = given[made]
    made += 1
    return Promise.resolve(typeof answer === 'function' ? (answer as () => unknown)() : answer)
  }
}
const fail = (message: string) => () => {
  throw new Error(message)
}
const quick = { pauseMs: 0 }

describe('retryUntilFinal', () => {
  it('asks again behind errors, in_progress, unknown and quota_exceeded, and tells of each', async () => {
    const again = ['in_progress', 'unknown', 'quota_exceeded'].map((kind) => ({ kind }))
    const last = { kind: 'executed', value: 1 }
    const calls = await retryUntilFinal(answers(fail('lost'), ...again, last), quick)
    deepStrictEqual(
      calls.map(({ told }) => told),
      [{ error: new Error('lost') }, ...again.map((result) => ({ result })), { result: last }],
    )
  })

  it('takes every other kind, and any other result, for a last word', async () => {
    for (const result of [
      ...['applied', 'replayed', 'rejected', 'conflict', 'expired', 'denied', 'duplicate'].map(
        (kind) => ({ kind }),
      ),
      'text',
      undefined,
    ]) {
      const calls = await retryUntilFinal(answers(result), quick)
      deepStrictEqual(
        calls.map(({ told }) => told),
        [{ result }],
      )
    }
  })

  it('reads answers of another shape as it is told to', async () => {
    const calls = await retryUntilFinal(answers(503, 409, 201), {
      ...quick,
      read: (status) => ({ says: status === 201 ? 'executed' : 'again' }),
    })
    strictEqual(calls.length, 3)
  })

  it('goes on when its patience is over, and knows later what the call came to', async () => {
    const slow = Promise.withResolvers<unknown>()
    const calls = await retryUntilFinal(
      answers(() => slow.promise, { kind: 'replayed' }),
      {
        ...quick,
        patienceMs: 5,
      },
    )
    deepStrictEqual(
      calls.map(({ givenUp, told }) => [givenUp, told]),
      [
        [true, undefined],
        [false, { result: { kind: 'replayed' } }],
      ],
    )
    slow.resolve({ kind: 'executed' })
    await calls[0]?.ended
    deepStrictEqual(calls[0]?.told, { result: { kind: 'executed' } })
  })

  it('tells before each retry how many calls were made', async () => {
    const made: number[] = []
    const onRetry = (count: number) => made.push(count)
    await retryUntilFinal(answers(fail('a'), fail('b'), 'c'), { ...quick, onRetry })
    deepStrictEqual(made, [1, 2])
  })

  it('fails when no call had a last word, with what the last one was told', async () => {
    const never = retryUntilFinal(answers(fail('a'), fail('b'), 'c'), { ...quick, attempts: 2 })
    await rejects(never, { code: 'not_final', cause: new Error('b') })
  })

  it('refuses options that mean nothing', async () => {
    for (const options of [
      { patience: 1 },
      { patienceMs: -1 },
      { patienceMs: 2 ** 31 },
      { pauseMs: Number.NaN },
      { attempts: 0 },
      { attempts: '3' },
      { read: 'kind' },
      { onRetry: 1 },
    ]) {
      const call = retryUntilFinal(answers('a'), options as object)
      await rejects(call, { code: 'invalid_options' }, JSON.stringify(options))
    }
  })
})
