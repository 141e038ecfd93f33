import type { RequestHandler } from 'express'

/** In front of everything else, so that refusals can be read as well. */
export function cors(origin: string): RequestHandler {
  return (request, response, next) => {
    response.vary('Origin').set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers':
        'Idempotent-Replayed, Idempotency-Key-Retention, Retry-After, Link',
    })
    if (request.method !== 'OPTIONS') {
      next()
      return
    }
    response.set({
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key',
      'Access-Control-Max-Age': '600',
    })
    response.sendStatus(204)
  }
}
