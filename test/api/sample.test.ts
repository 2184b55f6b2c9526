import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ordersUntil } from '../../server/example/index.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

const sample = { host: 'sample.localhost:4400' }

describe('the sample API', () => {
  test('200 with shops, products, and orders in pages that link to the next', async () => {
    expect((await t.anonymous.get('/sample/shops', undefined, sample)).body.length).toBe(12)
    expect((await t.anonymous.get('/sample/products', undefined, sample)).body.items.length).toBe(30)
    const ids: string[] = []
    for (let url: string | null = '/sample/orders?per_page=700'; url !== null;) {
      const { body } = await t.anonymous.get(url, undefined, sample)
      ids.push(...body.data.map((order: { id: string }) => order.id))
      url = body.next === null ? null : new URL(body.next).pathname + new URL(body.next).search
    }
    expect(ids.length).toBeGreaterThan(3000)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('under its name there is nothing else, and under other names it is not there', async () => {
    for (const path of ['/healthz', '/metrics', '/v1/openapi.json', '/v1/projects', '/', '/nothing']) {
      expect((await t.anonymous.get(path, undefined, sample)).status, path).toBe(404)
    }
    expect((await t.anonymous.get('/sample/shops')).status).toBe(404)
    expect((await t.anonymous.get('/%73ample/shops')).status).toBe(404)
    // Nor does another method tell that it is.
    expect((await t.anonymous.post('/sample/shops')).status).toBe(404)
    expect((await t.anonymous.post('/sample/shops')).body.message).toBe('There is nothing at POST /sample/shops.')
  })

  test('a configuration that gives another name in its headers reaches nothing else by it', async () => {
    // Behind a proxy on this machine, calls of the server to itself come from an address that is believed.
    const behind = await openTestApp({ SLUICE_TRUSTED_PROXIES: '127.0.0.1' })
    onTestFinished(() => behind.close())
    for (const path of ['/metrics', '/healthz', '/v1/openapi.json']) {
      const answer = await behind.anonymous.get(path, undefined, {
        ...sample,
        'x-forwarded-host': 'sluice.example.org',
      })
      expect(answer.status, path).toBe(404)
    }
  })
})

test('the past does not change: tomorrow has the same orders, less one day and plus one', () => {
  const today = ordersUntil(new Date('2026-03-01T12:00:00Z'))
  const tomorrow = ordersUntil(new Date('2026-03-02T01:00:00Z'))
  const first = tomorrow[0]?.id
  expect(tomorrow.slice(0, 500)).toEqual(today.slice(today.findIndex((order) => order.id === first)).slice(0, 500))
  expect(today.at(-1)?.ordered_at.slice(0, 10)).toBe('2026-02-28')
})
