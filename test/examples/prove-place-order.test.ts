import { deepStrictEqual, ok } from 'node:assert/strict'
import { it } from 'node:test'

import { provePlaceOrder } from '../../examples/orders/prove-place-order.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()

it('placeOrder keeps its promise wherever its connection is cut', async () => {
  const { faults, problems } = await provePlaceOrder(database.url, { kinds: ['cut'], pauseMs: 1 })
  deepStrictEqual(problems, [])
  ok(faults.length > 100, String(faults.length))
})
