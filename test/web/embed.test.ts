import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openShop, type Shop } from '../harness/shop.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'
import { openVisitor } from '../harness/web.ts'
import { areLookedFor, askAxe, takePicture } from './barriers.ts'

let t: TestApp
let source: Source
let shop: Shop
let service: string
let site: Site
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  shop = await openShop(t, source)
  service = await t.listen()
  await deploy('orders_since', 'The orders of a status since a day', {
    sql: 'SELECT id, total FROM orders WHERE status = $status AND ordered_on >= $since ORDER BY id LIMIT 300',
    slots: {
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['paid', 'shipped', 'returned'], title: 'State of the order' },
        since: { type: 'string', format: 'date', description: 'The first day that counts.' },
      },
      required: ['status', 'since'],
    },
    examples: [{ question: 'orders of a state since some day', parameters: {} }],
  })
  await deploy('slogans', 'The slogans of the shop', {
    sql: `SELECT '<img src=x onerror="document.title = 1">' AS slogan, 'b' AS mood UNION ALL SELECT 'plain', 'c'`,
    examples: [{ question: 'What are our slogans?', parameters: {} }],
  })
  await deploy('revenue_by_day', 'Revenue of each day of January', {
    sql: `SELECT ordered_on, sum(total) AS revenue FROM orders WHERE ordered_on < DATE '2025-02-01' GROUP BY ALL ORDER BY 1`,
    examples: [{ question: 'Show the revenue of each day in January', parameters: {} }],
  })
  site = await openSite()
  await expectStatus(200, t.operator.patch(shop.path, { allowed_origins: [site.origin] }))
}, 120_000)
beforeEach(() => (site.wish = {}))
afterAll(async () => {
  site.server.close()
  await t.close()
})

async function deploy(name: string, description: string, rest: Record<string, unknown>): Promise<void> {
  await expectStatus(201, t.operator.post(`${shop.path}/queries`, { name, description, ...rest }))
  await expectStatus(200, t.operator.post(`${shop.path}/queries/${name}/deploy`, { force: true }))
}

type Site = {
  server: Server
  origin: string
  /** What the site's server asks the service for. */
  wish: Record<string, unknown>
  key: string
  minted: number
}

/** Somebody's own site at another origin: a page, and a server that has the key. Its policy lets it load what it must. */
async function openSite(): Promise<Site> {
  const { body } = await t.operator.post('/v1/api-keys', {
    name: 'Site',
    plan: 'unlimited',
    permissions: [{ project_id: shop.projectId, environments: ['production'] }],
  })
  const opened: Site = { server: createServer(), origin: '', wish: {}, key: body.secret, minted: 0 }
  opened.server.on('request', (request, response) => {
    if (request.url === '/sluice-token' && request.method === 'POST') {
      opened.minted += 1
      const mint = async (): Promise<void> => {
        const minted = await fetch(`${service}/v1/browser-tokens`, {
          method: 'POST',
          headers: { authorization: `Bearer ${opened.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(opened.wish),
        })
        response.writeHead(minted.status, { 'content-type': 'application/json' }).end(await minted.text())
      }
      void mint()
      return
    }
    const policy = `default-src 'none'; script-src ${service}; connect-src 'self' ${service}; style-src 'nonce-page'; img-src data:`
    response.writeHead(request.url === '/healthz' || request.url === '/' ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    })
    response.end(`<!doctype html><html lang="en"><head><title>Our shop</title><link rel="icon" href="data:,">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <style nonce="page">:root { color-scheme: light dark } body { background: light-dark(#fff, #121212); margin: 24px; font-family: sans-serif }</style>
      <script type="module" src="${service}/embed/sluice-ask.js"></script></head>
      <body><main><h1>Our shop</h1><sluice-ask token-url="/sluice-token"></sluice-ask></main></body></html>`)
  })
  await new Promise<void>((resolve) => opened.server.listen(0, '127.0.0.1', resolve))
  opened.origin = `http://127.0.0.1:${(opened.server.address() as AddressInfo).port}`
  return opened
}

async function visit(): Promise<{
  page: Page
  box: Locator
  ask: (question: string) => Promise<void>
  complaints: () => string[]
}> {
  const { page, complaints, leave } = await openVisitor(site.origin)
  onTestFinished(leave)
  await page.goto(`${site.origin}/`)
  const box = page.getByRole('textbox', { name: 'Ask a question' })
  await box.waitFor()
  return {
    page,
    box,
    complaints: () => complaints.filter((each) => !each.startsWith(`asked ${service}`)),
    async ask(question) {
      await box.fill(question)
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
    },
  }
}

describe('an answer', () => {
  test('is a table with what was understood, from which words, on a page of another origin', async () => {
    const { page, ask, complaints } = await visit()
    await ask('What has Radia Perlman ordered?')
    await page.getByRole('columnheader', { name: 'Ordered on' }).waitFor()
    expect(await page.getByRole('row').count()).toBeGreaterThan(100)
    const told = page.getByText('Understood as').locator('..').locator('..')
    const text = await told.innerText()
    expect(text).toContain('All orders of one customer')
    expect(text).toContain('Customer: Radia Perlman')
    await page.getByRole('button', { name: /^Show \d+ more rows$/ }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(122)
    await ask('Show me the orders that were dispatched')
    await page.getByText('Status: shipped in your question: “dispatched”').waitFor()
    expect(complaints()).toEqual([])
  })

  test('is a chart where one number belongs to each name or day, with the table a key away', async () => {
    const { page, ask } = await visit()
    await ask('What are our best selling products?')
    const chart = page.getByRole('img', { name: /by Product: 5 values/ })
    await chart.waitFor()
    expect(await chart.locator('rect').count()).toBe(5)
    await page.getByRole('button', { name: 'Table', exact: true }).press('Enter')
    await page.getByRole('columnheader', { name: 'Product' }).waitFor()
    expect(await page.getByRole('button', { name: 'Table', exact: true }).getAttribute('aria-pressed')).toBe('true')
    await ask('Show the revenue of each day in January')
    const line = page.getByRole('img', { name: /Revenue by Ordered on: 31 values/ })
    await line.waitFor()
    expect(await line.locator('circle').count()).toBe(31)
  })

  test('is drawn as the author of the query set it', async () => {
    const question = 'On which weekdays do customers order?'
    await deploy('orders_by_weekday', 'How many orders are placed on each day of the week', {
      sql: 'SELECT dayname(ordered_on) AS weekday, count(*) AS orders, sum(total) AS revenue FROM orders GROUP BY ALL ORDER BY 1',
      examples: [{ question, parameters: {} }],
      chart: { type: 'pie', x: 'weekday', y: ['orders'] },
    })
    const { page, ask, complaints } = await visit()
    await ask(question)
    const pie = page.getByRole('img', { name: /^Orders by Weekday: 7 values/ })
    await pie.waitFor()
    expect(await pie.locator('path').count()).toBe(7)
    expect(await askAxe(page, false)).toEqual([])
    await takePicture(page, 'embed-pie')
    expect(complaints()).toEqual([])
  })

  test('without rows says which of its values no row has, and the nearest', async () => {
    await deploy('orders_by_product', 'Orders of one product', {
      sql: 'SELECT id FROM orders WHERE product = $product',
      slots: {
        type: 'object',
        properties: { product: { type: 'string', 'x-values-from': 'orders.product' } },
        required: ['product'],
      },
      examples: [{ question: 'orders of the product Steel Kettle', parameters: { product: 'Steel Kettle' } }],
    })
    const { page, ask } = await visit()
    await page.route('**/v1/query', async (reached) => {
      // What asks whether the page may ask goes as it is.
      if (reached.request().method() !== 'POST') return reached.continue()
      const sent = JSON.parse(reached.request().postData() ?? '{}')
      const named = { ...sent, query_name: 'orders_by_product', parameters: { product: 'Steel Kettlxx' } }
      await reached.continue({ postData: JSON.stringify(named) })
    })
    await ask('orders of the product that is new')
    await page.getByText('No row has “Steel Kettlxx” as Product. Nearest: Steel Kettle.', { exact: true }).waitFor()
    expect(await page.getByText('Nothing was found.').count()).toBe(1)
  })

  test('is one figure where it is one', async () => {
    const { page, ask } = await visit()
    await ask('How many orders do we have?')
    await page.getByText('730', { exact: true }).waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
  })

  test('shows what data says as text, whatever it says', async () => {
    const { page, ask } = await visit()
    await ask('What are our slogans?')
    await page.getByText('<img src=x onerror="document.title = 1">').waitFor()
    expect(await page.title()).toBe('Our shop')
    expect(await page.locator('sluice-ask img').count()).toBe(0)
  })

  test('tells the page', async () => {
    const { page, ask } = await visit()
    await page.evaluate(`document.addEventListener('sluice-answer', ({ detail }) => (window.told = detail))`)
    await ask('How many orders do we have?')
    await page.getByText('730', { exact: true }).waitFor()
    expect(await page.evaluate('window.told')).toMatchObject({
      question: 'How many orders do we have?',
      answer: { query_used: 'order_count', data: [{ orders: 730 }] },
    })
  })
})

describe('what stands in the way of an answer', () => {
  test('a missing value is asked for with the control that fits, by keyboard alone', async () => {
    const { page, box } = await visit()
    await box.focus()
    await page.keyboard.type('orders of a state since some day')
    await page.keyboard.press('Enter')
    const state = page.getByRole('combobox', { name: 'State of the order' })
    await state.waitFor()
    expect(await page.evaluate("document.querySelector('sluice-ask').shadowRoot.activeElement.id")).toBe('value-status')
    await page.keyboard.type('shipped')
    await page.keyboard.press('Tab')
    const since = page.getByLabel('Since')
    expect(await since.getAttribute('type')).toBe('date')
    const hint = page.locator(`#${await since.getAttribute('aria-describedby')}`)
    expect(await hint.innerText()).toContain('The first day that counts.')
    await since.fill('2025-12-01')
    await page.keyboard.press('Enter')
    await page.getByRole('columnheader', { name: 'Total' }).waitFor()
    await page.getByText('State of').waitFor({ state: 'detached' })
    await page.getByText('Status: shipped').waitFor()
    await page.getByText('Since: Dec 1, 2025').waitFor()
  })

  test('what a query leaves out is named before the answer, and said beside it', async () => {
    const { page, ask } = await visit()
    await ask('How much revenue does coffee bring at weekends?')
    const without = page.getByRole('button', { name: 'Answer without “at weekends”' })
    await without.waitFor()
    expect(await page.getByText('Understood as').count()).toBe(0)
    await without.click()
    await page.getByText('Understood as').waitFor()
    await page.getByText('This answer may leave out “at weekends”.', { exact: true }).waitFor()
  })

  test('a page that is strict asks strictly', async () => {
    const { page, ask } = await visit()
    const asked: unknown[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/query')) asked.push(request.postDataJSON())
    })
    await ask('How many orders do we have?')
    await page.getByText('730', { exact: true }).waitFor()
    await page.evaluate("document.querySelector('sluice-ask').toggleAttribute('strict')")
    await ask('What are our slogans?')
    await page.getByText('plain', { exact: true }).waitFor()
    expect(asked).toMatchObject([{ strict: false }, { strict: true }])
  })

  test('a question that nothing answers says so, and offers what is answered', async () => {
    const { page, ask } = await visit()
    await ask('Who won the football match yesterday?')
    await page.getByText('There is no answer to this question here.').waitFor()
    const [first] = await page
      .getByRole('group', { name: 'Questions that are answered here' })
      .getByRole('button')
      .all()
    expect(await page.getByText('Understood as').count()).toBe(0)
    await first?.click()
    await page.getByText('Understood as').waitFor()
  })

  test('too many questions say when to come again', async () => {
    site.wish = { rate_limit: { per_minute: 1, burst: 1 } }
    const { page, ask } = await visit()
    await ask('How many orders do we have?')
    await page.getByText('730', { exact: true }).waitFor()
    await ask('How many orders do we have?')
    await page
      .getByRole('alert')
      .getByText(/Too many questions. Try again in \d+ seconds/)
      .waitFor()
    expect(await page.getByText('Understood as').count()).toBe(0)
  })
})

describe('the token', () => {
  test('is fetched once, and again when it is over', async () => {
    const { page, ask } = await visit()
    const before = site.minted
    for (const question of ['How many orders do we have?', 'number of orders']) {
      await ask(question)
      await page.getByText('730', { exact: true }).waitFor()
    }
    expect(site.minted).toBe(before + 1)
    t.advance(601_000)
    await ask('What are our slogans?')
    await page.getByText('plain').waitFor()
    expect(site.minted).toBe(before + 2)
  })

  test('limits the page to its queries and its fixed values', async () => {
    site.wish = { queries: ['orders_of_customer'], fixed_parameters: { customer: 'Ada Byron' } }
    const { page, ask } = await visit()
    await ask('What has Radia Perlman ordered?')
    await page.getByRole('alert').getByText('fixes customer').waitFor()
    await ask('How many orders do we have?')
    await page.getByText('730', { exact: true }).waitFor({ state: 'detached' })
    expect(await page.getByText('730', { exact: true }).count()).toBe(0)
  })

  test('of a key that was revoked opens nothing', async () => {
    const { body } = await t.operator.post('/v1/api-keys', {
      name: 'Gone',
      permissions: [{ project_id: shop.projectId, environments: ['production'] }],
    })
    const before = site.key
    site.key = body.secret
    onTestFinished(() => void (site.key = before))
    const { page, ask } = await visit()
    await ask('How many orders do we have?')
    await page.getByText('730', { exact: true }).waitFor()
    await expectStatus(204, t.operator.delete(`/v1/api-keys/${body.id}`))
    await ask('How many orders do we have?')
    await page.getByRole('alert').getByText('This page may not ask right now').waitFor()
    expect(await page.getByText('730', { exact: true }).count()).toBe(0)
  })

  test('is of no use to a page whose origin the project does not name', async () => {
    await expectStatus(200, t.operator.patch(shop.path, { allowed_origins: ['https://elsewhere.example'] }))
    onTestFinished(async () => {
      await expectStatus(200, t.operator.patch(shop.path, { allowed_origins: [site.origin] }))
    })
    const { page, ask } = await visit()
    await ask('How many orders do we have?')
    await page.getByRole('alert').getByText('The service did not answer').waitFor()
    expect(await page.getByText('730', { exact: true }).count()).toBe(0)
  })
})

test('nothing stands in the way of ears, keys and eyes, wide and narrow, light and dark', async ({ skip }) => {
  skip(!areLookedFor, 'looks at pages are for --all')
  const { page, ask } = await visit()
  const states: Array<[string, string, Locator]> = [
    ['table', 'What has Radia Perlman ordered?', page.getByRole('columnheader', { name: 'Total' })],
    ['chart', 'What are our best selling products?', page.getByRole('img')],
    ['form', 'orders of a state since some day', page.getByRole('combobox')],
    ['nothing', 'Who won the football match yesterday?', page.getByText('There is no answer')],
  ]
  const found: string[] = []
  for (const [name, question, shown] of states) {
    await ask(question)
    await shown.first().waitFor()
    for (const scheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
        await page.setViewportSize({ width, height: 900 })
        const look = `${name} at ${width} in ${scheme}`
        found.push(...(await askAxe(page, width === 390)).map((barrier) => `${look}: ${barrier}`))
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        if (overflow !== 0) found.push(`${look}: ${String(overflow)} px too wide`)
        await takePicture(page, `embed-${name}-${scheme}-${width}`)
      }
    }
  }
  expect(found).toEqual([])
})
