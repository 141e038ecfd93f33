import axios, { type AxiosError } from 'axios'
import axiosRetry, { exponentialDelay } from 'axios-retry'

/** `timeout` is that of one attempt. */
export const http = axios.create({ timeout: 15_000 })

// It runs in front of every attempt: the key of the first one stays.
http.interceptors.request.use((config) => {
  if (config.method === 'post' && !config.headers.has('Idempotency-Key')) {
    config.headers.set('Idempotency-Key', `"${crypto.randomUUID()}"`)
  }
  return config
})

axiosRetry(http, {
  retries: 4,
  shouldResetTimeout: true,
  retryCondition: isOpen,
  retryDelay: exponentialDelay, // as long as Retry-After says, at least
})

/** Whether the same may be sent again, with the same key. True of what is thrown in the end: keep the key. */
export function isOpen({ code, response }: AxiosError): boolean {
  if (!response) return code !== 'ERR_CANCELED'
  const { status, headers } = response
  if (status < 300) return true // an answer that broke off
  if (status !== 409) return [408, 425, 429, 500, 502, 503, 504].includes(status)
  const problem = (Object(response.data) as { code?: string }).code
  return problem === 'request_outstanding' || (!problem && 'retry-after' in headers)
}
