import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openTestApp } from '../harness/app.ts'

test('a connection on which nothing was asked does not hold up a server that closes', async () => {
  const t = await openTestApp()
  const { port, hostname } = new URL(await t.listen())
  const silent = connect(Number(port), hostname)
  await once(silent, 'connect')
  // A call on another connection: by its answer the server has taken the silent one too.
  expect((await fetch(`http://${hostname}:${port}/healthz`)).status).toBe(200)
  silent.resume()
  const ended = once(silent, 'close')
  await t.close()
  await ended
}, 20_000)
