import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { putTable } from '../harness/tables.ts'
import { payloads, whatRan } from './hostile.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
let page: Page
let complaints: string[]

beforeAll(async () => {
  stage = await openStage({})
  const rows = payloads.map((payload, at) => ({
    id: at,
    [payload]: payload,
    link: payload,
    nested: { [payload]: [payload] },
  }))
  await putTable(stage.app, stage.projectId, { name: 'hostile', rows })
  const [image = ''] = payloads
  await expectStatus(
    201,
    stage.owner.post(stage.path, {
      name: 'hostile_rows',
      sql: 'select * from hostile where link = $link or $link is null order by id',
      description: image,
      slots: { properties: { link: { type: 'string', title: image, description: image, enum: payloads } } },
      examples: [{ question: `what is ${image}`, parameters: { link: image } }],
    }),
  )
  await stage.deploy('hostile_rows')
  const secret = await stage.key(image)
  for (const payload of payloads) {
    const ask = { query: `what is ${payload}`, project_id: stage.projectId, parameters: { [payload]: payload } }
    await stage.withToken(secret).post('/v1/query', ask, { 'user-agent': payload })
    await stage.callWith(secret, 'hostile_rows')
  }
  await fillSettings()
  ;({ page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/hostile_rows`))
  page.setDefaultTimeout(waitMs)
  page.on('dialog', () => void page.evaluate('window.hit = "dialog"'))
}, 120_000)
afterAll(() => stage.close())

/** Everything in the settings of a project, and around it, that somebody has named. */
async function fillSettings(): Promise<void> {
  const project = `/v1/projects/${stage.projectId}`
  const owner = async (path: string, body: Record<string, unknown>, status = 201) =>
    (await expectStatus(status, stage.owner.post(path, body))).body
  const [first = ''] = payloads
  for (const [at, name] of payloads.entries()) {
    const member = await stage.member(stage.projectId, 'viewer')
    await expectStatus(200, member.patch('/v1/session/user', { name }))
    await owner('/v1/management-tokens', { name, role: 'viewer', project_id: stage.projectId })
    await owner(`${project}/variables`, { name: `v${at}`, value: name })
    await owner(`${project}/datasources`, {
      name,
      kind: 'http_api',
      config: { url: `https://api.example/${name}`, method: 'GET' },
    })
    const channel = { type: 'webhook', url: `https://hooks.example/?${encodeURIComponent(name)}#${name}` }
    const shared = await owner(`${project}/alert-channels`, { name, channel })
    const alert = await owner(`${project}/alerts`, {
      name,
      type: 'requests_above',
      threshold: 1,
      channels: [channel, { type: 'shared', id: shared.id }],
    })
    await owner(`${project}/alerts/${alert.id}/silence`, { minutes: 60, reason: name }, 200)
    await owner(`${project}/views`, { page: 'audit', name: name.slice(0, 60), filter: { [name.slice(0, 40)]: name } })
    await owner(`${project}/releases`, { environment: 'preview', queries: 'all', force: true, message: name }, 200)
    await stage.edit('hostile_rows', { description: `${at} ${name}` })
  }
  await owner(`${project}/invitations`, { role: 'viewer', email: `javascript:window.hit=8//'@example.org` }, 400)
  await owner(`${project}/alert-channels`, { name: 'x', channel: { type: 'webhook', url: 'javascript:1' } }, 400)
  await expectStatus(200, stage.owner.patch('/v1/session/user', { name: first }))
  await expectStatus(200, stage.owner.patch(project, { name: first }))
}

/** Nothing that somebody has named or sent runs. */
const ran = async (): Promise<unknown[]> => whatRan(page, complaints)

test('rows of a query, their columns and what is in a cell', async () => {
  await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
  const grid = page.getByRole('grid', { name: 'Rows of the result' })
  for (const payload of payloads) await grid.getByRole('gridcell', { name: payload, exact: true }).first().waitFor()
  expect(await ran()).toEqual([])
  await grid
    .getByRole('gridcell', { name: payloads[0] ?? '', exact: true })
    .first()
    .dblclick()
  expect(await ran()).toEqual([])
})

test('settings: the audit log, with what is told of each act', async () => {
  await page.goto(`/p/${stage.projectId}/settings/audit`)
  const log = page.getByRole('list', { name: 'Acts' })
  const closed = log.getByRole('button', { expanded: false })
  await closed.first().waitFor()
  const older = page.getByRole('button', { name: 'Show older' })
  while ((await older.count()) > 0) {
    const shown = await closed.count()
    await older.click()
    await expect.poll(() => closed.count()).toBeGreaterThan(shown)
  }
  for (let left = await closed.count(); left > 0; left -= 1) await closed.first().click()
  for (const payload of payloads) await log.getByText(payload).first().waitFor()
  expect(await ran()).toEqual([])
})

test('alerts: the list, a history, what is changed, and why one is silent', async () => {
  await page.goto(`/p/${stage.projectId}/deploy/alerts`)
  const alerts = page.getByRole('list', { name: 'Alerts' })
  for (const payload of payloads) await alerts.getByText(payload).first().waitFor()
  expect(await ran()).toEqual([])
  for (const act of ['History of', 'Edit', 'Delete']) {
    await alerts.getByRole('button', { name: `${act} ${payloads[0]}`, exact: true }).click()
    await page.getByRole('dialog').waitFor()
    expect(await ran(), act).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
})

test('the list of pages, and an invitation to a project of such a name', async () => {
  await page.goto(`/p/${stage.projectId}/build/data`)
  await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Jump to a page').fill('img')
  expect(await ran()).toEqual([])
  const { body } = await expectStatus(
    201,
    stage.owner.post(`/v1/projects/${stage.projectId}/invitations`, { role: 'viewer' }),
  )
  const { page: invited, complaints: others } = await stage.visit(String(body.link).replace(/^https?:\/\/[^/]+/, ''))
  await invited
    .getByText(payloads[0] ?? '')
    .first()
    .waitFor()
  expect(await invited.evaluate('window.hit')).toBeUndefined()
  expect(others).toEqual([])
})

test('what is looked for is found where somebody puts it into a page', async () => {
  await page.goto(`/p/${stage.projectId}/settings/members`)
  await page.getByRole('main').waitFor()
  for (const [payload, found] of [
    [payloads[0], 'onerror=window.hit = 1'],
    [payloads[1], 'onload=window.hit = 2'],
    ['<a href="javascript:window.hit=3">x</a>', 'javascript:window.hit=3'],
  ]) {
    // Beside the app, which draws its own part anew when its data has come.
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('div'), { innerHTML: ${JSON.stringify(payload)} }))`,
    )
    expect(await ran()).toContain(found)
  }
  // The policy of the page has said no to each of them.
  expect(complaints.join('\n')).toMatch(/Content Security Policy/)
  expect(await page.evaluate('window.hit')).toBeUndefined()
})
