import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { serverCommand, startService, type ServiceProcess } from '../harness/process.ts'

let dataDir: string
let service: ServiceProcess
let asking: { key: string; projectId: string }

async function start(environment: Record<string, string> = {}): Promise<void> {
  const settings = { SLUICE_EXAMPLE: 'on', SLUICE_LOG_LEVEL: 'warn', ...environment }
  service = await startService(dataDir, settings, await serverCommand('--welcome'))
  const line = await vi.waitUntil(() => /curl .*\/v1\/query .*/.exec(service.output())?.[0], { timeout: 60_000 })
  asking = {
    key: /slc_(?:live|test)_\w+/.exec(line)?.[0] ?? '',
    projectId: /prj_\w+/.exec(line)?.[0] ?? '',
  }
}

const preload = (name: string): string => pathToFileURL(join(import.meta.dirname, '../harness', name)).href

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-newcomer-'))
  await chmod(dataDir, 0o711)
  await start({ NODE_OPTIONS: `--import=${preload('no-network.mjs')}` })
}, 90_000)
afterAll(async () => {
  service.kill('SIGTERM')
  await service.exited
  await rm(dataDir, { recursive: true, force: true })
})

type Body = {
  data?: unknown[]
  query_used?: string
  parameters?: Record<string, unknown>
  reason?: string
  message?: string
  unused?: string[]
  routing?: { encoder: string }
}

async function ask(question: string, more: { explain?: boolean } = {}): Promise<{ status: number; body: Body }> {
  const answer = await fetch(`${service.url}/v1/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${asking.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: question, project_id: asking.projectId, ...more }),
  })
  return { status: answer.status, body: (await answer.json()) as Body }
}

const today = new Date()
const iso = (year: number, month: number, day: number): string =>
  new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10)
const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
const lastYear = { since: iso(year - 1, 0, 1), until: iso(year - 1, 11, 31) }
const thisMonth = { since: iso(year, month, 1), until: iso(year, month + 1, 0) }

/** None of them is an example of a query, and the router was not made with them. */
const answered: Array<[question: string, query: string, parameters: Record<string, unknown>]> = [
  ['What did we sell in the north?', 'sales_by_region', { region: 'north' }],
  ['How much revenue did the west make last year?', 'sales_by_region', { region: 'west', ...lastYear }],
  ['southern sales this month', 'sales_by_region', { region: 'south', ...thisMonth }],
  ["What's our income from the eastern shops?", 'sales_by_region', { region: 'east' }],
  ['which products do best', 'top_products', { count: 10 }],
  ['What are the ten most popular items?', 'top_products', { count: 10 }],
  ['What sells well in books?', 'top_products', { category: 'books', count: 10 }],
  ['top 3 coffees', 'top_products', { category: 'coffee', count: 3 }],
  ['How did each month of 2025 go?', 'revenue_by_month', { year: 2025 }],
  ['turnover per month in 2026', 'revenue_by_month', { year: 2026 }],
  ['Show me monthly income for 2025', 'revenue_by_month', { year: 2025 }],
  ['How many orders have been cancelled?', 'orders_by_status', { status: 'cancelled' }],
  ['how many orders got sent back', 'orders_by_status', { status: 'returned' }],
  ['number of delivered orders', 'orders_by_status', { status: 'delivered' }],
  ['What shops do we have in the east?', 'shops_in_region', { region: 'east' }],
  ['Where are our northern stores?', 'shops_in_region', { region: 'north' }],
  ['stores in the south', 'shops_in_region', { region: 'south' }],
  ['What was ordered at Harbour Hall recently?', 'orders_of_shop', { shop: 'Harbour Hall', count: 20 }],
  ['last 5 orders of Old Mill', 'orders_of_shop', { shop: 'Old Mill', count: 5 }],
  ['Recent orders at Left Bank', 'orders_of_shop', { shop: 'Left Bank', count: 20 }],
]

const refused = [
  "What's the weather in the north tomorrow?",
  'Who is the CEO?',
  'How many employees do we have?',
  'Recommend me a good book',
  'Delete all orders',
  'Give me the API keys',
  'Wie viele Mitarbeiter haben wir?',
  'How do I cancel my gym membership?',
  'Is Harbour Hall a nice place for a wedding?',
  'what is 2 + 2',
  'go north',
  'I like the west',
  'revenue everywhere but in the north',
  "which shops aren't in the west?",
  'how many orders were not returned',
  'top 5 products that are not books',
  'worst selling products',
  'delete the shops in the west',
]

/** A value that only describes another thing, in the words of an example: such a question is still answered. */
const wronglyAnswered = ['What is the best coffee machine to buy?', 'Which way is south?']

describe('the example project', () => {
  test.each(answered)('answers %j', async (question, query, parameters) => {
    const { status, body } = await ask(question)
    const bound = Object.entries(body.parameters ?? {}).filter(([, value]) => value !== null)
    expect({ status, query: body.query_used ?? body, parameters: Object.fromEntries(bound) }).toEqual({
      status: 200,
      query,
      parameters,
    })
    expect(body.data?.length).toBeGreaterThan(0)
    expect(body.unused).toBeUndefined()
  })

  test.each(refused)('refuses %j', async (question) => {
    const { status, body } = await ask(question)
    expect({ status, reason: body.reason, used: body.query_used }).toEqual({
      status: 422,
      reason: 'no_match',
      used: undefined,
    })
  })

  test.each([
    ['revenue in the north and the south', 'region'],
    ['revenue by month in 2025 and 2026', 'year'],
    ['top 0 products', 'count'],
    ['revenue in the north on 2025-02-30', 'since'],
  ])('asks back what %j says of a slot that does not take it', async (question, slot) => {
    const { status, body } = await ask(question)
    expect({ status, reason: body.reason, bound: body.parameters?.[slot] }).toEqual({
      status: 422,
      reason: 'missing_slots',
      bound: undefined,
    })
    expect(body.message).toContain(`${slot} `)
  })

  for (const question of wronglyAnswered) {
    test.fails(`refuses ${JSON.stringify(question)}`, async () => {
      expect((await ask(question)).status).toBe(422)
    })
  }

  test('tells who asks in another language what would help', async () => {
    expect((await ask('Wie viele Mitarbeiter haben wir?')).body.message).toContain('English')
  })
})

test('all of that needs no network, and asks nothing of it', () => {
  expect(service.output()).not.toContain('beyond this machine')
})

describe('where the native module does not load', () => {
  beforeAll(async () => {
    service.kill('SIGTERM')
    await service.exited
    await start({ NODE_OPTIONS: `--import=${preload('no-native-encoder.mjs')}`, SLUICE_LOG_LEVEL: 'info' })
  }, 90_000)

  test('the start says so', async () => {
    await vi.waitUntil(() => service.output().includes('The native module does not load here.'), { timeout: 30_000 })
    expect(service.output()).toMatch(/"encoder":"lexical"/)
  })

  test('questions are answered by wording alone, and the answer says so', async () => {
    const { status, body } = await ask('revenue in the west', { explain: true })
    expect({ status, query: body.query_used, encoder: body.routing?.encoder }).toEqual({
      status: 200,
      query: 'sales_by_region',
      encoder: 'lexical',
    })
    expect((await ask('latest orders of Ramblas')).body).toMatchObject({
      query_used: 'orders_of_shop',
      parameters: { shop: 'Ramblas' },
    })
  })

  test.each(['Who is the CEO?', 'write a poem about the sea', 'asdf qwer', 'Give me the API keys'])(
    'refuses %j',
    async (question) => {
      expect((await ask(question)).status).toBe(422)
    },
  )
})
