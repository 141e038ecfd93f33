import { deepStrictEqual, notDeepStrictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { Content } from '../../src/http/content.ts'
import { fingerprintOfRequest } from '../../src/http/request-fingerprint.ts'

const of = (contentType: string, content: Content) =>
  fingerprintOfRequest('things.make', {
    method: 'POST',
    path: '/',
    query: '',
    contentType,
    content,
  })
const ofBytes = (contentType: string, text: string) =>
  of(contentType, { bytes: Buffer.from(text, 'latin1') })

/** As a client sends it, with a boundary of its own each time. */
async function form(file: Uint8Array<ArrayBuffer>) {
  const data = new FormData()
  data.append('sku', 'A')
  data.append('file', new Blob([file]), 'a.bin')
  const request = new Request('http://a/', { method: 'POST', body: data })
  const bytes = new Uint8Array(await request.arrayBuffer())
  return of(String(request.headers.get('content-type')), { bytes })
}

describe('the fingerprint of a request', () => {
  it('of a form with files is the same by whatever boundary it is sent', async () => {
    deepStrictEqual(await form(Uint8Array.of(255)), await form(Uint8Array.of(255)))
    notDeepStrictEqual(await form(Uint8Array.of(255)), await form(Uint8Array.of(254)))
    const quoted = ofBytes('multipart/form-data; a=b; boundary="x y"', '--x y\r\n\r\n1\r\n--x y--')
    deepStrictEqual(
      ofBytes('multipart/form-data;a=c;boundary=zz', '--zz\r\n\r\n1\r\n--zz--'),
      quoted,
    )
    notDeepStrictEqual(
      ofBytes('multipart/form-data;boundary=zz', '--zz\r\n\r\n2\r\n--zz--'),
      quoted,
    )
  })

  it('of a parsed content that no client has sent is an error of the host', () => {
    for (const value of [new Date(), 1n, { at: new Date() }, new Map()]) {
      throws(() => of('application/json', { parsed: value }), { code: 'not_json' })
    }
  })

  it('of one that a client has, with what a parser has changed, is its refusal', () => {
    for (const value of [2 ** 53, '\uD800', { a: ['\uDC00'] }]) {
      throws(() => of('application/json', { parsed: value }), { code: 'content_ambiguous' })
    }
  })
})
