import type { MutationOptions, QueryClient } from '@tanstack/query-core'
import type { IdempotentFetch, KeptIntent } from 'oncely/client'

/** What `mutate` is called with. The key is in it, so that every run has the same. */
export interface PlaceOrder {
  readonly intent: KeptIntent
  readonly order: object
}

const mutationKey = ['orders', 'place']

/** For `useMutation`, and for `setMutationDefaults(mutationKey, …)` at the start: a reload keeps no functions. */
export function placing(send: IdempotentFetch, url: string) {
  return {
    mutationKey,
    retry: false, // it is `send` that sends again
    async mutationFn({ intent, order }) {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(order)
      const { response } = await send.intent(intent).send(url, { method: 'POST', headers, body })
      if (!response.ok) throw new Error(`refused: ${response.status}`, { cause: response })
      return (await response.json()) as { orderNumber: string }
    },
  } satisfies MutationOptions<{ orderNumber: string }, Error, PlaceOrder>
}

/** For `dehydrate`, which otherwise leaves out what is under way. */
export const dehydrating = {
  shouldDehydrateMutation: ({ state }: { state: { status: string } }) => state.status === 'pending',
}

/** Behind `hydrate`. `resumePausedMutations` would leave out what was under way. */
export function resume(client: QueryClient) {
  const pending = client.getMutationCache().findAll({ mutationKey, status: 'pending' })
  return Promise.allSettled(pending.map((mutation) => mutation.continue()))
}
