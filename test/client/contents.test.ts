import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'

import OtherFormData from 'form-data'
import { createIdempotentFetch } from 'oncely/client'

import { cut, scriptedServer, type Step } from './scripted-server.ts'

const server = scriptedServer()
const send = createIdempotentFetch({ initialDelayMs: 0, maxDelayMs: 0 })

/** What has come, of each attempt: the media type and the octets. */
const come: [type: string | undefined, content: string][] = []
const reading =
  (then: Step): Step =>
  async (request, response) => {
    come.push([request.headers['content-type'], (await buffer(request)).toString('latin1')])
    then(request, response)
  }
const play = () => {
  come.length = 0
  server.play(
    reading(cut),
    reading((_request, response) => response.writeHead(503).end()),
    reading((_request, response) => response.end('done')),
  )
}

const form = new FormData()
form.append('sku', 'A')
form.append('file', new Blob(['\0\xff']), 'a.bin')

const contents: Record<string, [content: NonNullable<RequestInit['body']>, type: RegExp]> = {
  'a text': ['content', /^text\/plain/],
  octets: [Uint8Array.of(1, 255), /^undefined$/],
  'a Blob': [new Blob(['content'], { type: 'image/png' }), /^image\/png$/],
  'what a form is made of': [new URLSearchParams({ a: 'b c' }), /^application\/x-www-form-url/],
  'a form with a file': [form, /^multipart\/form-data; boundary=/],
}

describe('the content of an intent', () => {
  for (const [what, [body, type]] of Object.entries(contents)) {
    it(`F4: is the same in each attempt, to the octet, where it is ${what}`, async () => {
      play()
      const { attempts } = await send(server.url, { method: 'POST', body })
      strictEqual(attempts, 3)
      match(String(come[0]?.[0]), type)
      deepStrictEqual(come, [come[0], come[0], come[0]])
      strictEqual((come[0]?.[1].length ?? 0) > 0, true)
    })
  }

  it('F4: is the same where it is of a Request, with what else that says', async () => {
    play()
    const headers = { 'content-type': 'application/json', 'x-a': '1' }
    const request = new Request(server.url, { method: 'PATCH', body: '{"a":1}', headers })
    strictEqual((await send(request)).attempts, 3)
    deepStrictEqual(
      come,
      Array.from({ length: 3 }, () => ['application/json', '{"a":1}']),
    )
    deepStrictEqual(
      server.requests.map(({ method, headers: { 'x-a': a } }) => [method, a]),
      Array.from({ length: 3 }, () => ['PATCH', '1']),
    )
  })

  it('may be nothing at all', async () => {
    play()
    strictEqual((await send(server.url, { method: 'DELETE' })).attempts, 3)
    strictEqual(new Set(come.map(([, content]) => content)).has(''), true)
  })

  it('F4: is refused where it can be read only once, before anything is sent', async () => {
    play()
    const streams = [new Blob(['a']).stream(), Readable.from(['a'])]
    for (const body of streams) {
      await rejects(
        send(server.url, { method: 'POST', body: body as ReadableStream, duplex: 'half' }),
        {
          code: 'invalid_options',
        },
      )
    }
    strictEqual(server.requests.length, 0)
  })

  it('F4: is the same of another realm, or of another implementation', async () => {
    const foreign = runInNewContext(`new Uint8Array([97, 98]).buffer`) as ArrayBuffer
    class Text extends URLSearchParams {}
    const file = { [Symbol.toStringTag]: 'File', type: 'text/csv', name: 'a.csv' }
    const arrayBuffer = () => new Blob(['in a file']).arrayBuffer()
    const otherForm = {
      [Symbol.toStringTag]: 'FormData',
      entries: () => [
        ['sku', 'A'],
        ['file', { ...file, arrayBuffer }],
      ],
    }
    for (const [body, type, content] of [
      [foreign, /^undefined$/, /^ab$/],
      [new Text({ a: 'b' }), /urlencoded/, /^a=b$/],
      [{ ...file, arrayBuffer }, /^text\/csv$/, /^in a file$/],
      [otherForm, /^multipart\/form-data/, /name="sku"[^]*A[^]*filename="a.csv"[^]*in a file/],
    ] as const) {
      play()
      await send(server.url, { method: 'POST', body: body as never })
      match(String(come[0]?.[0]), type)
      match(String(come[0]?.[1]), content)
      deepStrictEqual(come, [come[0], come[0], come[0]])
    }
  })

  it('is refused where it would be sent as the text of an object, before anything is sent', async () => {
    play()
    const generator = (function* () {
      yield 'a'
    })()
    const bodies: unknown[] = [{ a: 1 }, [1], generator, 1, true, new Date(), () => 'a']
    bodies.push({ [Symbol.toStringTag]: 'FormData', pipe: () => undefined })
    for (const body of bodies) {
      await rejects(send(server.url, { method: 'POST', body: body as never }), {
        code: 'invalid_options',
      })
    }
    await rejects(send(server.url, { method: 'POST', body: { a: 1 } as never }), /JSON\.stringify/)
    strictEqual(server.requests.length, 0)
  })

  it('is refused as the object of the package form-data', async () => {
    play()
    const other = new OtherFormData()
    other.append('sku', 'A')
    await rejects(send(server.url, { method: 'POST', body: other as never }), /stream/)
    strictEqual(server.requests.length, 0)
  })

  it('is of a method that writes: a read needs no key', async () => {
    play()
    for (const method of ['GET', 'HEAD', undefined]) {
      await rejects(send(server.url, method ? { method } : {}), { code: 'invalid_options' })
    }
    strictEqual(server.requests.length, 0)
  })
})
