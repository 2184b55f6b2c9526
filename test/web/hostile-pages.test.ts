import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'
import { areLookedFor } from './barriers.ts'
import { image, openEverything, payloads, showsPayload, whatRan } from './hostile.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

/** Every page of the app of a project whose rows, names, questions and upstream's errors are markup. */

let stage: Stage
let source: Source
let page: Page
let complaints: string[]
const ids: Record<string, string> = {}

const queryViews = ['edit', 'try', 'versions', 'usage', 'questions']
const encoded = encodeURIComponent(image)
/** The names of the project and of who looks stand on each page: they are no proof that it shows anything of its own. */
const everywhere = '<img src=x onerror="window.name = 1">'

/**
 * Addresses by the page that they show, `…` for the project. A page that shows nothing of what anybody sent says so.
 */
const walks: Record<string, Array<string | { at: string; shows: 'nothing of it' }>> = {
  // These show the names of the project and of who looks.
  ProjectsPage: [{ at: '/?all', shows: 'nothing of it' }],
  AccountPage: [{ at: '/account', shows: 'nothing of it' }],
  SignInPage: [{ at: `/sign-in?next=${encodeURIComponent('javascript:window.hit=1')}`, shows: 'nothing of it' }],
  JoinPage: [
    { at: '{invitation}', shows: 'nothing of it' },
    { at: `/join#${encoded}`, shows: 'nothing of it' },
  ],
  ConnectPage: [
    { at: `/connect/x?error=${encoded}&error_description=${encoded}&state=${encoded}`, shows: 'nothing of it' },
  ],
  AuthorizePage: ['/oauth/authorize?{client}'],
  DevicePage: [
    { at: '/device?code={device}', shows: 'nothing of it' },
    { at: `/device?code=${encoded}`, shows: 'nothing of it' },
  ],
  SharedReferencePage: [{ at: '{reference}', shows: 'nothing of it' }],
  DocsPages: [
    { at: '/docs', shows: 'nothing of it' },
    { at: `/docs/${encoded}`, shows: 'nothing of it' },
  ],
  GuidePage: [{ at: '/docs/write-a-query', shows: 'nothing of it' }],
  ProjectPages: ['…', { at: `/p/${encoded}`, shows: 'nothing of it' }],
  AskPage: [`…/ask?question=${encodeURIComponent(`what is ${image}`)}`],
  BuildPages: ['…/build', { at: `…/build/${encoded}`, shows: 'nothing of it' }],
  HomePage: ['…/build/home'],
  DataSection: ['…/build/data'],
  TablePage: ['…/build/data/hostile', '…/build/data/held', { at: `…/build/data/${encoded}`, shows: 'nothing of it' }],
  RowsView: ['…/build/data/hostile/rows'],
  ContractView: ['…/build/data/held/contract'],
  VersionsView: ['…/build/data/held/versions', '…/build/queries/hostile_rows/versions'],
  ConnectionPage: [
    '…/build/connections/{failing}',
    '…/build/connections/{connection}',
    '…/build/connections/{redirecting}',
  ],
  CatalogPage: [{ at: '…/build/connections/catalog', shows: 'nothing of it' }],
  EntryPage: [{ at: '…/build/connections/catalog/github', shows: 'nothing of it' }],
  ModelPage: ['…/build/models/hostile_model', { at: '…/build/models', shows: 'nothing of it' }],
  QueriesSection: ['…/build/queries'],
  QueryPage: queryViews.map((view) => `…/build/queries/hostile_rows/${view}`),
  NewQueryPage: ['…/build/new-query?table=hostile'],
  EditView: ['…/build/queries/hostile_rows'],
  TryView: [`…/deploy/endpoints/hostile_rows/try?values=${encodeURIComponent(JSON.stringify({ link: image }))}`],
  HistoryView: ['…/deploy/endpoints/hostile_rows/versions'],
  MapPage: ['…/build/map', `…/build/map?of=${encodeURIComponent('table hostile')}`],
  DeployPages: ['…/deploy', { at: `…/deploy/${encoded}`, shows: 'nothing of it' }],
  EndpointsPage: ['…/deploy/endpoints', '…/deploy/endpoints?share'],
  ReleasesPage: ['…/deploy/releases', '…/deploy/releases?environment=preview'],
  ReleasePage: ['…/deploy/releases/{release}', '…/deploy/releases/{canary}?environment=preview'],
  QuestionsPage: ['…/deploy/questions'],
  MetricsPage: ['…/deploy/metrics'],
  RequestsPage: ['…/deploy/requests'],
  AlertsPage: ['…/deploy/alerts', `…/deploy/alerts?alert={alert}`],
  KeysPage: ['…/deploy/keys'],
  KeyPage: ['…/deploy/keys/{key}'],
  SettingsPages: [{ at: '…/settings', shows: 'nothing of it' }],
  ProjectSection: [{ at: '…/settings/project', shows: 'nothing of it' }],
  EnvironmentsSection: [{ at: '…/settings/environments', shows: 'nothing of it' }],
  RetentionSection: [{ at: '…/settings/retention', shows: 'nothing of it' }],
  MembersSection: [{ at: '…/settings/members', shows: 'nothing of it' }],
  TokensSection: ['…/settings/tokens'],
  VariablesSection: ['…/settings/variables'],
  SecretsSection: [{ at: '…/settings/secrets', shows: 'nothing of it' }],
  AuditSection: ['…/settings/audit'],
}

beforeAll(async () => {
  source = await openSource()
  stage = await openStage({ SLUICE_OUTBOUND_ALLOW: source.host, SLUICE_ALERT_INTERVAL_SECONDS: '1' })
  await stage.app.jobs.start()
  const project = `/v1/projects/${stage.projectId}`
  const send: Send = async (status, path, body = {}) =>
    (await expectStatus(status, stage.owner.post(`${project}${path}`, body))).body
  await fillTables(send)
  await fillQueries(send)
  await fillProject(send)
  ;({ page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/home`))
  page.setDefaultTimeout(waitMs)
  page.on('dialog', () => void page.evaluate('window.hit = "dialog"'))
}, 240_000)
afterAll(async () => {
  await stage.close()
  await source.close()
})

type Send = (status: number, path: string, body?: Record<string, unknown>) => Promise<Record<string, string>>

/** Tables of hostile rows, one that is held, a model, and connections whose API answers with hostile errors. */
async function fillTables(send: Send): Promise<void> {
  const rows = payloads.map((payload, at) => ({
    id: at,
    [payload]: payload,
    link: payload,
    nested: { [payload]: [payload] },
  }))
  const connect = async (name: string, body: unknown, table: string) => {
    const config = { url: `${source.url}?${table}`, method: 'GET', headers: { 'x-name': image } }
    const made = await send(201, '/datasources', {
      name,
      table_name: table,
      kind: 'http_api',
      config,
      tags: [image.slice(0, 40)],
    })
    ids[table] = made['id'] ?? ''
    source.answer(body)
    return { datasourceId: made['id'] ?? '', url: config.url, config, name, projectId: stage.projectId }
  }
  const connection = await connect(image, rows, 'hostile')
  ids['connection'] = connection.datasourceId
  await expectStatus(200, execute(stage.owner, connection))
  const schema = `/v1/projects/${stage.projectId}/datasources`
  await expectStatus(
    200,
    stage.owner.patch(`${schema}/${ids['hostile']}/schema`, {
      columns: [{ source_name: 'link', description: image }],
      checks: [{ type: 'accepted_values', column: 'link', values: payloads }],
    }),
  )
  const held = await connect('held', [{ id: 1, word: image }], 'held')
  await expectStatus(200, execute(stage.owner, held))
  const checks = [{ type: 'accepted_values', column: 'word', values: [image] }]
  await expectStatus(200, stage.owner.patch(`${schema}/${ids['held']}/schema`, { checks }))
  source.answer([{ id: 1, word: payloads[1] }])
  await expectStatus(200, execute(stage.owner, held))
  for (const [name, table, status, headers, body] of [
    ['failing', 'failing', 500, { 'content-type': image }, { error: { message: image }, message: image }],
    ['redirecting', 'redirecting', 302, { location: "javascript:window.hit=3//'" }, image],
    ['graphql', 'graphql', 200, { 'content-type': 'application/json' }, { errors: [{ message: image }], data: null }],
    ['page', 'page', 200, { 'content-type': 'text/html' }, `<title>${image}</title>${image}`],
  ] as const) {
    const failing = await connect(`${name} ${image}`, [{ id: 1 }], table)
    await expectStatus(200, execute(stage.owner, failing))
    source.answer(body, headers, status)
    expect((await execute(stage.owner, failing)).status, name).toBeGreaterThanOrEqual(400)
  }
  await send(201, '/models', {
    name: 'hostile_model',
    sql: `select id, link, '${payloads[3]}' as "${image.replaceAll('"', '""')}" from hostile -- ${image}`,
    description: image,
    tags: [image.slice(0, 40)],
  })
  await settled()
}

async function fillQueries(send: Send): Promise<void> {
  await send(201, '/queries', {
    name: 'hostile_rows',
    sql: `select * from hostile where link = $link or $link is null order by id -- ${image}`,
    description: image,
    slots: { properties: { link: { type: 'string', title: image, description: image, enum: payloads } } },
    examples: [{ question: `what is ${image}`, parameters: { link: image } }],
    tags: [image.slice(0, 40)],
  })
  const given = { hostile: [{ id: 1, link: image }] }
  for (const test of [
    { name: 'passing', query: 'hostile_rows', description: image, given, expect: [{ link: image }] },
    { name: 'failing', query: 'hostile_rows', description: image, given, expect: [{ link: `other ${image}` }] },
    { name: 'of_model', model: 'hostile_model', given, expect: [{ link: `other ${image}` }] },
  ]) {
    await expectStatus(200, stage.owner.put(`/v1/projects/${stage.projectId}/tests`, test))
  }
  const release = { environment: 'production', queries: 'all', force: true, message: image }
  ids['release'] = (await send(200, '/releases', release))['id'] ?? ''
  await send(200, '/releases', { ...release, environment: 'preview' })
  await stage.edit('hostile_rows', { description: `more ${image}` })
  const canary = { environment: 'preview', queries: [{ name: 'hostile_rows' }], force: true, message: image }
  ids['canary'] = (await send(200, '/releases', { ...canary, canary: { percent: 50 } }))['id'] ?? ''
  await send(201, '/evaluations', {
    question: `case ${image}`,
    expected_query: 'hostile_rows',
    expected_parameters: { link: image },
  })
  await send(201, '/evaluations/run')
  await settled()
}

async function fillProject(send: Send): Promise<void> {
  const project = `/v1/projects/${stage.projectId}`
  const secret = await stage.key(image)
  const keys = (await expectStatus(200, stage.owner.get('/v1/api-keys'))).body.data
  ids['key'] = keys.find(({ name }: { name: string }) => name === image).id
  for (const payload of payloads) {
    const caller = stage.withToken(secret)
    const ask = { query: `what is ${payload}`, project_id: stage.projectId, parameters: { [payload]: payload } }
    await caller.post('/v1/query', ask, { 'user-agent': payload })
    await caller.post('/v1/queries/hostile_rows', { [payload]: payload, link: payload }, { 'x-request-id': payload })
    await stage.owner.post(`${project}/ask`, { question: `unheard ${payload}` })
  }
  const asked = (await expectStatus(200, stage.owner.get(`${project}/questions?limit=50`))).body.data
  const [question] = asked
  const expected = question.outcome === 'answered' ? null : 'hostile_rows'
  await send(201, `/questions/${question.request_id ?? question.id}/report`, { expected_query: expected })
  const channel = { type: 'webhook', url: `https://hooks.example/?${encoded}` }
  await send(201, '/alert-channels', { name: image, channel })
  ids['alert'] =
    (await send(201, '/alerts', { name: image, type: 'requests_above', threshold: 1, channels: [channel] }))['id'] ?? ''
  await send(201, '/variables', { name: 'v', value: image })
  await send(201, '/apis', { name: 'shared', config: { url: source.url, headers: { 'x-name': image } } })
  await expectStatus(
    201,
    stage.owner.post('/v1/management-tokens', { name: image, role: 'viewer', project_id: stage.projectId }),
  )
  await expectStatus(200, stage.owner.patch('/v1/session/user', { name: everywhere }))
  await expectStatus(200, stage.owner.patch(project, { name: everywhere, query_links: true }))
  await send(201, '/query-links', {
    query: 'hostile_rows',
    parameters: { link: image },
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  const client = { client_name: image, redirect_uris: ['https://assistant.example/back'] }
  const { client_id: id } = (await expectStatus(201, stage.anonymous.post('/oauth/register', client))).body
  ids['client'] = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: 'https://assistant.example/back',
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
    state: image,
  }).toString()
  ids['program'] = id
  ids['device'] = await deviceCode()
  const pathOf = (link: string) => link.replace(/^https?:\/\/[^/]+/, '')
  ids['reference'] = pathOf(
    (await expectStatus(200, stage.owner.put(`${project}/shared-references/production`))).body.link,
  )
  ids['invitation'] = pathOf((await send(201, '/invitations', { role: 'viewer' }))['link'] ?? '')
}

async function settled(): Promise<void> {
  const path = `/v1/projects/${stage.projectId}/jobs?limit=200`
  await vi.waitUntil(
    async () =>
      (await stage.owner.get(path)).body.data.every(({ status }: { status: string }) => !/queued|running/.test(status)),
    { timeout: 60_000, interval: 100 },
  )
}

const expectNothing = async (what: string): Promise<void> => expect(await whatRan(page, complaints), what).toEqual([])

test('each page of the app has its walk', async () => {
  const pages = join(import.meta.dirname, '../../web/pages')
  const found = new Set<string>()
  for await (const path of glob('**/*.tsx', { cwd: pages })) {
    const text = await readFile(join(pages, path), 'utf8')
    for (const [, name = ''] of text.matchAll(/export function (\w+(?:Page|Pages|Section|View))\b/g)) found.add(name)
  }
  expect(Object.keys(walks).toSorted()).toEqual([...found].toSorted())
  // Whatever the router shows is called so.
  for (const router of [
    'app.tsx',
    'pages/project.tsx',
    'pages/build/build.tsx',
    'pages/deploy/deploy.tsx',
    'pages/query/query-page.tsx',
  ]) {
    const text = await readFile(join(pages, '..', router), 'utf8')
    const shown = [
      ...text.matchAll(/(?:<|component=\{|default: \([^)]*\)\.)(\w+(?:Page|Pages|Section|View|Screen|List))\b/g),
    ]
    for (const [, name = ''] of shown)
      if (!['NotFoundPage', 'SignedInPages'].includes(name)) expect(found, `${router}: ${name}`).toContain(name)
  }
  const sections = await readFile(join(pages, 'settings/settings.tsx'), 'utf8')
  for (const [, section = ''] of sections.matchAll(/^ {2}(\w+): \w+Section,$/gm)) {
    expect(JSON.stringify(walks), section).toContain(`…/settings/${section}"`)
  }
  const place = await readFile(join(pages, 'query/header/place.ts'), 'utf8')
  expect([...place.matchAll(/\{ view: '(\w+)'/g)].map(([, view]) => view)).toEqual(queryViews)
})

const addresses = Object.entries(walks).flatMap(([name, all]) =>
  all.map((each): [string, string, boolean] =>
    typeof each === 'string' ? [name, each, true] : [name, each.at, false],
  ),
)

// All of them take a quarter of an hour: CI walks them, and npm test the first.
test.each(areLookedFor ? addresses : addresses.slice(0, 1))('%s: %s', async (name, address, shows) => {
  const path = address
    .replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole)
    .replace('…', `/p/${stage.projectId}`)
  await page.goto(path)
  await page.locator('main, form, h1').first().waitFor()
  await page.waitForLoadState('networkidle')
  await expectNothing(path)
  let isSeen = await showsPayload(page)
  // A view is one of the tabs of its page, which walks them.
  await openEverything(page, { withTabs: !name.endsWith('View') }, async (what) => {
    await expectNothing(`${path}: ${what}`)
    isSeen ||= await showsPayload(page)
  })
  expect(await whatRan(page, complaints), path).toEqual([])
  if (shows && !isSeen) await expect.poll(() => showsPayload(page), { timeout: 20_000, message: path }).toBe(true)
})

test('Ask: a thread of questions, with how each was answered and what is wrong with it', async () => {
  await page.goto(`/p/${stage.projectId}/ask`)
  const field = page.getByRole('main').getByRole('textbox').first()
  for (const question of [`what is ${image}`, `and ${payloads[1]}`, `revenue in the ${image}`]) {
    await field.fill(question)
    await field.press('Enter')
    await page.waitForLoadState('networkidle')
    await expectNothing(question)
  }
  await openEverything(page, { withTabs: true }, expectNothing)
  expect(await whatRan(page, complaints)).toEqual([])
})

/** Good for ten minutes, which walking all pages may take. */
async function deviceCode(): Promise<string> {
  const begun = await stage.http.inject({
    method: 'POST',
    url: '/oauth/device_authorization',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ client_id: ids['program'] ?? '' }).toString(),
  })
  return begun.json().user_code
}

test('a device says who it is', async () => {
  await page.goto(`/device?code=${await deviceCode()}`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Let it in' }).waitFor()
  expect(await showsPayload(page)).toBe(true)
  expect(await whatRan(page, complaints)).toEqual([])
})

test.each(['json', 'csv', 'xlsx', 'ndjson'])('rows as %s are no page, by a key or by a link', async (format) => {
  const link = await stage.owner.post(`/v1/projects/${stage.projectId}/query-links`, {
    query: 'hostile_rows',
    parameters: {},
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  const path = `${link.body.url.replace(/^https?:\/\/[^/]+/, '')}${format === 'json' ? '' : `.${format}`}`
  const answer = await fetch(new URL(path, page.url()))
  const { 'content-type': type = '', ...headers } = Object.fromEntries(answer.headers)
  expect([answer.status, headers['x-content-type-options']]).toEqual([200, 'nosniff'])
  expect(type).not.toMatch(/html|svg|xml;|javascript/)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (format !== 'xlsx') expect(bytes.toString()).toContain('window.hit = 4')
  const { page: visitor, complaints: others } = await stage.visit('/sign-in')
  const [opened] = await Promise.allSettled([visitor.goto(path), visitor.waitForEvent('download', { timeout: 5_000 })])
  // A file is saved, and the browser stays where it was; JSON is shown as text.
  expect(opened.status === 'rejected' || format === 'json' || format === 'ndjson').toBe(true)
  expect(await whatRan(visitor, others)).toEqual([])
})
