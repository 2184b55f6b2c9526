import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let neighbour: QueryProject
let port: number
beforeAll(async () => {
  // A short wait, so that how fast this machine reads questions does not decide what is seen.
  t = await openTestApp({}, { bounds: { questionWaitMs: 10 }, ownProcesses: true })
  q = await openQueryProject(t)
  neighbour = await openQueryProject(t)
  for (const project of [q, neighbour]) {
    await project.deploy({
      name: 'order_count',
      description: 'How many orders there are',
      sql: 'SELECT count(*) AS orders FROM orders',
      examples: [{ question: 'how many orders are there' }, { question: 'number of orders' }],
    })
  }
  port = Number(new URL(await t.listen()).port)
  await ask('number of orders')
  await ask('number of orders', undefined, neighbour)
}, 90_000)
afterAll(() => t.close())

type Answer = { status: number; retryAfter: string | undefined; elapsedMs: number }

/**
 * As a caller who knows nothing of the others: over a connection of its own. One that is slow sends the body when `rest`
 * says so.
 */
function ask(question: string, rest?: Promise<void>, by: QueryProject = q): Promise<Answer> {
  const body = JSON.stringify({ query: question, project_id: by.projectId })
  const head =
    `POST /v1/query HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ${by.secret}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(rest === undefined ? head + body : head)
      void rest?.then(() => socket.write(body))
    })
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()))
    socket.on('error', reject)
    socket.on('close', () =>
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]),
        retryAfter: /^retry-after: (\d+)/im.exec(answer)?.[1],
        elapsedMs: performance.now() - startedMs,
      }),
    )
  })
}

test('five hundred over connections of their own are each answered, or refused at once with when to come again', async () => {
  const answers = await Promise.all(Array.from({ length: 500 }, (_, at) => ask(`how many orders are there ${at}`)))
  const refused = answers.filter(({ status }) => status === 503)
  const others = answers.filter(({ status }) => status !== 503)
  expect(others.every(({ status }) => status === 200 || status === 422)).toBe(true)
  expect(others.length).toBeGreaterThan(0)
  // Read one after the other, all of them would be let in: each would find the door free.
  expect(refused.length).toBeGreaterThan(250)
  expect(refused.every(({ retryAfter }) => retryAfter === '1')).toBe(true)
  expect(Math.max(...answers.map(({ elapsedMs }) => elapsedMs))).toBeLessThan(10_000)
  expect((await ask('number of orders')).status).toBe(200)
}, 60_000)

test('a refusal for want of room is counted as the call of its key', async () => {
  const before = t.observations.length
  const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => ask(`number of orders ${at}`)))
  const refused = answers.filter(({ status }) => status === 503).length
  expect(refused).toBeGreaterThan(0)
  const told = t.observations.slice(before).filter((each) => each.kind === 'query-answered')
  expect(told).toHaveLength(200)
  expect(told.filter(({ code }) => code === 'overloaded')).toHaveLength(refused)
  expect(new Set(told.map(({ keyId }) => keyId)).size).toBe(1)
  expect(told[0]?.keyId).toMatch(/^key_/)
}, 60_000)

test('connections that send nothing more keep nobody out, and are answered when they do', async () => {
  const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
  let heads = 0
  t.http.server.on('request', () => (heads += 1))
  const slow = Array.from({ length: 30 }, () => ask('number of orders', rest))
  try {
    await expect.poll(() => heads).toBe(30)
    await expect.poll(async () => (await ask('number of orders')).status).toBe(200)
  } finally {
    sendRest()
  }
  const statuses = (await Promise.all(slow)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
}, 60_000)

test('while one project is flooded, every question of its neighbour is answered', async () => {
  const over = new AbortController()
  let refused = 0
  const flood = Array.from({ length: 60 }, async (_, caller) => {
    for (let at = 0; !over.signal.aborted; at += 1) {
      if ((await ask(`how many orders are there ${caller} ${at}`)).status === 503) refused += 1
    }
  })
  try {
    await expect.poll(() => refused).toBeGreaterThan(100)
    const statuses = []
    for (let at = 0; at < 20; at += 1) statuses.push((await ask('number of orders', undefined, neighbour)).status)
    expect(statuses).toEqual(statuses.map(() => 200))
  } finally {
    over.abort()
    await Promise.all(flood)
  }
}, 60_000)
