/** What to paste, and what it shows. */
export function curlLines(
  url: string,
  key: string,
  slowKey: string,
): readonly (readonly [what: string, line: string])[] {
  const post = (of: string, amountMinor: number, more = '') =>
    `curl -siw '\\n' ${url}/orders -H 'authorization: Bearer alice' -H 'content-type: application/json' ` +
    `-H 'idempotency-key: "${of}"' ${more}-d '{"sku":"TEA","amountMinor":${amountMinor}}'`
  return [
    ['the first: 201, and its order', post(key, 1_999)],
    ['a retry: the same answer, with Idempotent-Replayed', post(key, 1_999)],
    ['another amount under the same key: 422', post(key, 2_999)],
    [
      'while the first is in progress: 409 with Retry-After for the second, then 201 for the first',
      `(${post(slowKey, 500, `-H 'x-demo-slow-ms: 2000' `)} &) ; sleep 1; ${post(slowKey, 500)}; sleep 2`,
    ],
  ]
}
