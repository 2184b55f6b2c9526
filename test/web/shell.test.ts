import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { takePicture } from './barriers.ts'

let t: TestWeb
let source: Source
let projectId: string
let editor: Person

beforeAll(async () => {
  source = await openSource()
  source.answer([{ id: 1, city: 'Lund' }])
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  projectId = await t.project('Weather')
  editor = await t.member(projectId, 'editor')
  const made = await expectStatus(
    201,
    editor.post(`/v1/projects/${projectId}/datasources`, {
      name: 'Stations of the north',
      kind: 'http_api',
      config: { url: source.url, method: 'GET' },
    }),
  )
  await expectStatus(
    200,
    execute(editor, { projectId, datasourceId: made.body.id, url: source.url, name: 'Stations of the north' }),
  )
  await expectStatus(
    201,
    editor.post(`/v1/projects/${projectId}/queries`, {
      name: 'cities',
      sql: 'select city from stations_of_the_north',
      description: 'Where the stations are.',
    }),
  )
  await expectStatus(200, editor.post(`/v1/projects/${projectId}/queries/cities/deploy`, { environment: 'staging' }))
})
afterAll(async () => {
  await t.close()
  await source.close()
})

test('a running job stands under the header on every page, and is cancelled there', async () => {
  const held = source.hold()
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections`)
  await page.getByRole('link', { name: 'Stations of the north' }).click()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  const bar = page.getByRole('region', { name: 'Running jobs' })
  await bar.getByText('1 job: fetching the data again').waitFor()
  await page.getByRole('link', { name: 'Deploy', exact: true }).click()
  await bar.getByRole('button', { expanded: false }).click()
  await bar.getByText(/Fetching the data again of Stations of the north: \d+ %/).waitFor()
  await takePicture(page, 'job-bar-light-1280')
  await bar.getByRole('button', { name: 'Cancel: Fetching the data again' }).click()
  await bar.waitFor({ state: 'detached' })
  const jobs = await t.operator.get(`/v1/projects/${projectId}/jobs?status=cancelled`)
  expect(jobs.body.data).toHaveLength(1)
  expect(held.asked()).toBe(1)
  source.answer([{ id: 1, city: 'Lund' }])
  expect(complaints).toEqual([])
})

test('the way to anywhere stays open while the page it was asked for on arrives', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections`)
  await page.getByRole('heading', { level: 1, name: 'Data' }).waitFor()
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>()
  await page.route(/\/assets\/settings-[^/]*\.js$/, async (reached) => {
    await arrives
    await reached.continue()
  })
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByRole('button', { name: 'Project Weather: choose another' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Jump to a page').fill('Alerts')
  arrive()
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByPlaceholder('Jump to a page').inputValue()).toBe('Alerts')
  await page.getByRole('button', { name: /^Alerts Deploy of Weather/ }).click()
  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor()
  expect(complaints).toEqual([])
})

test('a few letters lead to any page and to anything the project holds', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections`)
  const jump = async (letters: string, what: RegExp): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Jump to a page').fill(letters)
    await page.getByRole('button', { name: what }).waitFor()
    await page.keyboard.press('Enter')
  }
  await page.getByRole('heading', { level: 1, name: 'Data' }).waitFor()
  for (const label of ['Usage', 'Alerts', 'Ask', 'Home', 'Queries', 'Retention']) {
    await jump(label, new RegExp(`^${label} (Build|Deploy|Settings|Questions) of Weather`))
    await page.getByRole('heading', { level: 1, name: label }).waitFor()
  }
  await jump('endpoint in staging', /^cities Endpoint in staging/)
  await page.getByText('Live: v1 in staging').waitFor()
  await jump('stations_of', /^stations_of_the_north Table/)
  await page.getByRole('heading', { level: 1, name: 'stations_of_the_north' }).waitFor()
  await jump('stations of', /^Stations of the north Connection/)
  await page.getByRole('heading', { level: 1, name: 'Stations of the north' }).waitFor()
  await jump('city', /^city Column of stations_of_the_north/)
  await page.getByRole('heading', { level: 1, name: 'stations_of_the_north' }).waitFor()
  await jump('Keys and limits', /^Keys and limits Guide/)
  await page.getByRole('heading', { level: 1, name: 'Keys and limits' }).waitFor()
  await page.goto(`/p/${projectId}/build/connections`)
  await page.getByRole('heading', { level: 1, name: 'Data' }).waitFor()
  const id = 'req_01M7JPS9S4JPDJSZ741TGWDD2K'
  await jump(id, new RegExp(`^${id} Call`))
  await page.getByText(`The log of this project has no call ${id}.`).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Call' }).waitFor({ state: 'detached' })
  await jump('API reference', /^Guides and API reference/)
  await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor()
  expect(complaints).toEqual([])
})
