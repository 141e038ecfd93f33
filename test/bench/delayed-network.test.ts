import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'

import { type DelayedNetwork, startDelayedNetwork } from '../../bench/network/delayed-network.ts'

describe('the delaying proxy of the benchmark', () => {
  const echo = createServer((socket) => socket.pipe(socket))
  let network: DelayedNetwork
  let port: number

  before(async () => {
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const url = `postgres://127.0.0.1:${(echo.address() as { port: number }).port}/x`
    network = await startDelayedNetwork(url, 4)
    port = Number(new URL(network.through(url)).port)
  })
  after(async () => {
    await network.stop()
    echo.close()
  })

  it('keeps the order of what it passes, and closes behind it', async () => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    const sent = Array.from({ length: 2_000 }, (_, at) => `${at},`)
    const sending = (async () => {
      for (const chunk of sent) {
        socket.write(chunk)
        // Otherwise all of it would be one chunk.
        await setImmediate()
      }
      socket.end()
    })()
    const received: Buffer[] = []
    for await (const chunk of socket) received.push(chunk as Buffer)
    await sending
    assert.equal(Buffer.concat(received).toString(), sent.join(''))
  })

  it('takes half of the round trip in each direction', async () => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    const times: number[] = []
    for (let index = 0; index < 20; index += 1) {
      const begun = performance.now()
      socket.write('x')
      await once(socket, 'data')
      times.push(performance.now() - begun)
    }
    socket.destroy()
    // The shortest: how much longer it takes is up to what else the machine does.
    const shortest = Math.min(...times)
    assert.ok(shortest >= 4, `${shortest} ms`)
  })
})
