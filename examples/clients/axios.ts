import axios, { AxiosError } from 'axios'
import { IdempotentFetchError, type Intent } from 'oncely/client'

/** What has an intent is sent until its answer is final; anything else, such as a GET, is sent once. */
export const http = axios.create({
  adapter: 'fetch',
  env: {
    async fetch(input, init) {
      const { intent, ...rest } = { ...init } as RequestInit & { intent?: Intent }
      if (!intent) return fetch(input, rest)
      try {
        return (await intent.send(input, rest)).response
      } catch (error) {
        throw AxiosError.from(error) // without our `response`, which is not as those of axios
      }
    },
  },
})

http.interceptors.response.use(undefined, (error: unknown) => {
  const { cause } = Object(error) as Error
  throw cause instanceof IdempotentFetchError ? cause : error
})

export async function placeOrder(intent: Intent, url: string, order: object, signal?: AbortSignal) {
  const options = { fetchOptions: { intent }, ...(signal && { signal }) }
  const { data, headers } = await http.post<{ orderNumber: string }>(url, order, options)
  return { ...data, again: headers['idempotent-replayed'] === 'true' }
}
