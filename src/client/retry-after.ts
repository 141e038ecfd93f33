/**
 * When it is worth to ask again, in milliseconds from now: `Retry-After` in seconds or as a date (RFC 9110, section
 * 10.2.3). A date is by the clock of the server, where that is told.
 *
 * @returns undefined where it says nothing that can be understood.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A bare number would be a year.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(date)) return undefined
  const server = Date.parse(headers.get('date') ?? '')
  return Math.max(0, date - (Number.isNaN(server) ? now : server))
}
