import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { openAuthorizationServer, type AuthorizationServer } from '../harness/authorization-server.ts'
import { openSource } from '../harness/source.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { waitMs } from './stage.ts'
import { moveTo } from './navigate.ts'

let t: TestWeb
let server: AuthorizationServer
let projectId: string
let editor: Person
let folder: string
beforeAll(async () => {
  server = await openAuthorizationServer()
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' })
  await t.app.jobs.start()
  projectId = await t.project('Shop')
  editor = await t.member(projectId, 'editor')
  folder = await mkdtemp(join(tmpdir(), 'sluice-files-'))
})
afterAll(async () => {
  await t.close()
  await server.close()
  await rm(folder, { recursive: true })
})

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

/** Pictures of what was touched, where somebody wants to look at them. */
async function look(page: Page, name: string): Promise<void> {
  const to = process.env['TEST_PICTURES']
  if (to === undefined) return
  for (const [look, width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(to, `${name}-${look}.png`), fullPage: true })
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

const looks = [
  ['1440', 1440, 'light'],
  ['390', 390, 'light'],
  ['dark', 1440, 'dark'],
] as const

test('Connect leads to the API’s own page and back, and the connection calls in one’s name', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address', { exact: true }).fill(server.apiUrl)
  await page.getByLabel('Name', { exact: true }).fill('Orders')
  await page.getByRole('tab', { name: 'Authentication' }).click()
  await page.getByRole('combobox', { name: 'Authentication' }).click()
  await page.getByRole('option', { name: 'OAuth2 Authorization Code' }).click()
  await page.getByLabel('Address where you agree').fill(server.authorizationUrl)
  await page.getByLabel('Address of the token endpoint').fill(server.tokenUrl)
  await page.getByLabel('Client id', { exact: true }).fill(server.client.id)
  await page.getByLabel('Client secret, if the client has one').fill(server.client.secret)
  await page.getByLabel('Audience, if any').fill('https://api.example')
  await page.getByLabel('Further parameters, one name=value a line').fill('prompt=consent')
  await look(page, 'connect-before')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText(/^Connected by/).waitFor()
  expect(page.url()).not.toMatch(/code=|state=/)
  await page.getByText('It renews itself.').waitFor()
  await look(page, 'connect-after')
  expect(server.asked[0]).toMatchObject({ parameters: { audience: 'https://api.example', prompt: 'consent' } })
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('200').first().waitFor()
  expect(server.apiAnswers.at(-1)).toBe(200)
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await page.getByText('Not connected yet.').waitFor()
  // The one page elsewhere that was meant to be asked for.
  expect(complaints.filter((each) => !each.startsWith(`asked ${server.authorizationUrl}?`))).toEqual([])
})

test('a login request is filled in, tried out and kept', async () => {
  const shop = await openSource()
  shop.handle((request, response) => {
    const isIn = request.headers.authorization === 'Bearer good'
    const answer = request.url === '/login' ? { data: { token: 'good' } } : isIn ? [{ order: 7 }] : { message: 'who?' }
    const status = isIn || request.url === '/login' ? 200 : 401
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  try {
    const { page } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
    page.setDefaultTimeout(waitMs)
    await page.getByLabel('Address', { exact: true }).fill(shop.url)
    await page.getByLabel('Name', { exact: true }).fill('Shop with a login')
    await page.getByRole('tab', { name: 'Authentication' }).click()
    await page.getByRole('combobox', { name: 'Authentication' }).click()
    await page.getByRole('option', { name: 'Login Request' }).click()
    await page.getByLabel('Login URL').fill(`http://${shop.host}/login`)
    await page.getByLabel(/^Credentials/).fill('email=sluice@shop.example\npassword=theirs')
    await page.getByLabel(/^Token path/).fill('data.token')
    await look(page, 'login-request')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('200').first().waitFor()
    expect(shop.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /login', 'GET /data'])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Shop with a login').first().waitFor()
    await expect
      .poll(() => page.getByLabel(/^Credentials/).inputValue())
      .toBe('email=sluice@shop.example\npassword=***')
  } finally {
    await shop.close()
  }
})

test('an answer that belongs to nobody here connects nothing and says what to do', async () => {
  const { page } = await t.visitAs(editor, '/connect/somewhere?code=stolen&state=made-up')
  page.setDefaultTimeout(waitMs)
  await heading(page, 'Nothing was connected')
  await page.getByText('Press Connect again').waitFor()
  expect(page.url()).not.toContain('stolen')
})

test('a file is dropped or chosen, and is a table a moment later', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/catalog`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('link', { name: 'Upload a file' }).click()
  await heading(page, 'New table from files')
  await page.getByLabel('Name', { exact: true }).fill('Targets')
  await page.getByRole('radio', { name: 'Merge by key' }).check()
  await page.getByRole('combobox', { name: 'Key' }).fill('id')
  await page.getByRole('combobox', { name: 'Key' }).press('Enter')
  await look(page, 'upload-new')
  const file = join(folder, 'targets.csv.gz')
  await writeFile(file, gzipSync('id,region\n1,north\n2,south\n'))
  await page.getByLabel('File to upload').setInputFiles(file)
  await heading(page, 'targets')
  await page
    .getByText(/2 rows/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Upload a file' }).click()
  await heading(page, 'Targets')
  // As a browser drops it: with a file in what was dragged.
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['id,region\\n2,east\\n3,west\\n'], 'more.csv', { type: 'text/csv' }))
    return transfer
  })()`)
  await page.getByText('Drop a file here').dispatchEvent('drop', { dataTransfer: dropped })
  await heading(page, 'targets')
  await page
    .getByText(/3 rows/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Upload a file' }).click()
  const broken = join(folder, 'broken.json')
  await writeFile(broken, '[{"id":1},{"id":')
  await page.getByLabel('File to upload').setInputFiles(broken)
  await page.getByRole('alert').getByText('breaks off').waitFor()
  await look(page, 'upload-refused')
  expect(complaints.filter((each) => !each.includes('400'))).toEqual([])
})

test('variables and secrets are kept, changed and deleted, and a connection chooses whose it means', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/settings/variables`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('shop_key')
  await dialog.getByRole('switch', { name: 'It is a secret' }).click()
  await dialog.getByLabel('Value').fill('planted-secret')
  await dialog.getByRole('combobox', { name: 'May be sent to' }).fill(server.origin)
  await dialog.getByRole('combobox', { name: 'May be sent to' }).press('Enter')
  await look(page, 'variables-add')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('{{secret:shop_key}}').waitFor()
  // A dialog that is closing still holds what was typed.
  await dialog.waitFor({ state: 'detached' })
  expect((await page.content()).includes('planted-secret')).toBe(false)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByLabel('Name').fill('region')
  await dialog.getByRole('combobox', { name: 'For' }).click()
  await page.getByRole('option', { name: 'staging' }).click()
  await dialog.getByLabel('Value').fill('north')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('{{var:region}}').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Change region' }).click()
  await dialog.getByLabel('Value').fill('south')
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(/^south/).waitFor()
  await look(page, 'variables')
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/variables`))
  expect(body.data).toMatchObject([
    { name: 'shop_key', secret: true, value: null, origins: [server.origin] },
    { name: 'region', environment: 'staging', value: 'south' },
  ])
  await moveTo(page, `/p/${projectId}/build/connections/new`)
  await page.getByRole('combobox', { name: 'Variables of' }).click()
  await page.getByRole('option', { name: 'staging' }).click()
  await moveTo(page, `/p/${projectId}/settings/variables`)
  await page.getByRole('button', { name: 'Delete region' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete region' }).click()
  await page.getByText('region is deleted.').waitFor()
  expect(complaints).toEqual([])
})

test('For each asks once for each row of another table', async () => {
  const table = await expectStatus(
    201,
    t.operator.post(`/v1/projects/${projectId}/datasources`, { name: 'Teams', kind: 'file' }),
  )
  const sent = await fetch(`${t.origin}/v1/projects/${projectId}/datasources/${table.body.id}/files`, {
    method: 'POST',
    headers: { authorization: 'Bearer operator-token-of-the-tests', 'content-type': 'application/json' },
    body: '[{"id":1},{"id":2}]',
  })
  expect(sent.status).toBe(201)
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address', { exact: true }).fill(`${server.origin}/teams/{{row.id}}`)
  await page.getByLabel('Name', { exact: true }).fill('Members of teams')
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  await page.getByRole('switch', { name: 'A request for each row of another table' }).click()
  await page.getByRole('combobox', { name: 'Table' }).click()
  await page.getByRole('option', { name: 'teams' }).click()
  await page.getByLabel('Columns that join the two').fill('team_id=id')
  await look(page, 'for-each')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Members of teams is saved.').waitFor()
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/datasources`))
  const made = body.data.find(({ name }: { name: string }) => name === 'Members of teams')
  expect(made.for_each).toEqual({ table: 'teams', keys: { team_id: 'id' }, max_requests: 10_000 })
  await page.reload()
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  expect(await page.getByLabel('Columns that join the two').inputValue()).toBe('team_id=id')
  expect(complaints).toEqual([])
})

test('an export is described step by step, and stays as it was written', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address', { exact: true }).fill(`${server.origin}/exports`)
  await page.getByLabel('Name', { exact: true }).fill('Exported orders')
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  await page.getByRole('button', { name: 'Wait for an export' }).click()
  await page.getByLabel('Address of step 1').fill('/exports/{{start:id}}')
  await page.getByLabel('Ready when it is').fill('done, completed')
  await page.getByLabel('Failed when it is').fill('failed')
  await page.getByLabel('Address of step 2').fill('{{answer:url}}')
  await look(page, 'export')
  await page.getByRole('switch', { name: /Join what the answer includes/ }).click()
  await look(page, 'extract')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Exported orders is saved.').waitFor()
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/datasources`))
  const made = body.data.find(({ name }: { name: string }) => name === 'Exported orders')
  const until = { path: 'status', is: ['done', 'completed'], fails: ['failed'], every_seconds: 5 }
  expect(made.config.included).toBe(true)
  expect(made.config.steps).toEqual([
    { url: '/exports/{{start:id}}', method: 'GET', until },
    { url: '{{answer:url}}', method: 'GET' },
  ])
  await page.reload()
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  expect(await page.getByLabel('Ready when it is').inputValue()).toBe('done, completed')
  await page.getByRole('button', { name: 'Remove step 2' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page
    .getByText(/end with a request that waits/)
    .first()
    .waitFor()
  expect(complaints.filter((each) => !each.includes('400'))).toEqual([])
})

test('the parts of a request stand in one line at 1280 px', async () => {
  const { page } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  const tabs = page.getByRole('tablist', { name: 'Parts of the request' }).getByRole('tab')
  await tabs.first().waitFor()
  const tops = await tabs.evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().top))
  expect(tops).toHaveLength(4)
  expect(new Set(tops).size).toBe(1)
  const list = page.getByRole('tablist', { name: 'Parts of the request' })
  // All of them can be seen: none waits beyond the edge.
  expect(await list.evaluate((each) => each.scrollWidth - each.clientWidth)).toBeLessThanOrEqual(0)
})
