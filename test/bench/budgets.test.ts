import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { budgets, judge } from '../../bench/budgets.ts'
import { parseOptions, UsageError } from '../../bench/options.ts'
import { planOf } from '../../bench/plan.ts'
import { sections } from '../../bench/sections/all.ts'

const round = (perSecond: number) => ({ perSecond, p50Ms: 1, p99Ms: 1 })

function firsts(...ours: number[]) {
  const bare = ours.map(() => round(1_000))
  const measured = [
    { name: 'oncely', rounds: ours.map(round) },
    { name: 'bare', rounds: bare },
  ]
  return judge([{ id: 'first-16-0', title: '', connections: 16, networkMs: 0, measured }]).find(
    ({ budget }) => budget.name === 'first executions ÷ bare transactions',
  )
}

describe('the budgets of the benchmark', () => {
  it('are judged by the median of the ratios of the rounds', () => {
    const judged = firsts(100, 800, 900)
    assert.deepEqual(judged?.ratio, { median: 0.8, min: 0.1, max: 0.9 })
    assert.equal(judged.verdict, 'aim met')
    assert.equal(firsts(600)?.verdict, 'must met')
    assert.equal(firsts(500)?.verdict, 'MISSED')
  })

  it('are not missed where nothing was measured', () => {
    for (const { verdict } of judge([])) assert.equal(verdict, 'not measured')
  })

  it('each have a section that measures them, also when it alone is asked for', () => {
    for (const { name, comparison } of budgets) {
      const { plan, chosen } = planOf(true, [name], sections)
      assert.ok(plan.wants(comparison), name)
      assert.ok(
        chosen.some(({ id }) => comparison.startsWith(id)),
        name,
      )
    }
  })
})

describe('a quick run of the benchmark', () => {
  it('has time for size and memory only where they are asked for, and says so', () => {
    const named = (quick: boolean, only: string[]) => {
      const { chosen, leftOut } = planOf(quick, only, sections)
      return { chosen: chosen.map(({ name }) => name), leftOut }
    }
    const late = ['size', 'memory']
    assert.deepEqual(named(false, []), { chosen: sections.map(({ name }) => name), leftOut: [] })
    const quick = named(true, [])
    assert.deepEqual(quick.leftOut, late)
    assert.deepEqual([...quick.chosen, ...late], named(false, []).chosen)
    assert.deepEqual(named(true, late), { chosen: late, leftOut: [] })
  })
})

describe('the options of the benchmark', () => {
  it('are refused when they are none', () => {
    assert.throws(() => parseOptions(['--quik']), UsageError)
    assert.throws(() => parseOptions(['--from', 'x', '--quick']), UsageError)
  })
})
