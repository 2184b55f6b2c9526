import type { Page } from 'playwright-core'
import { expectStatus, type Answer, type Person } from '../harness/app.ts'
import { orders, putTable } from '../harness/tables.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'

export const waitMs = 60_000
/** Often enough to be quick, seldom enough for the limits of a key. */
export const polled = { timeout: 60_000, interval: 250 }

export const salesSql = 'select region, sum(amount) as revenue from orders where region = $region group by region'

/** A project with a table and two queries, of which none is deployed, and people with roles in it. */
export type Stage = TestWeb & {
  owner: Person
  viewer: Person
  projectId: string
  /** Of the queries in the API. */
  path: string
  edit(name: string, changes: Record<string, unknown>): Promise<void>
  deploy(...names: string[]): Promise<void>
  key(name: string, more?: Record<string, unknown>): Promise<string>
  callWith(secret: string, name: string, environment?: string): Promise<Answer>
}

/** In the app that files share, where nothing is set; one that runs jobs has its own. */
export async function openStage(environment?: Record<string, string>): Promise<Stage> {
  const t = await openTestWeb(environment, { isShared: environment === undefined })
  const projectId = await t.project('Corner shop')
  const path = `/v1/projects/${projectId}/queries`
  const owner = await t.member(projectId, 'owner')
  const viewer = await t.member(projectId, 'viewer')
  await owner.patch('/v1/session/user', { name: 'Ada Lindqvist' })
  await owner.post(`/v1/projects/${projectId}/environments`, { name: 'preview' })
  await putTable(t.app, projectId, { name: 'orders', rows: orders(3000) })
  await expectStatus(201, owner.post(path, salesByRegion))
  await expectStatus(
    201,
    owner.post(path, { name: 'all_orders', sql: 'select * from orders order by id', description: 'Every order.' }),
  )
  return {
    ...t,
    owner,
    viewer,
    projectId,
    path,
    async edit(name, changes) {
      await expectStatus(200, owner.put(`${path}/${name}`, changes))
    },
    async deploy(...names) {
      for (const name of names) await expectStatus(200, owner.post(`${path}/${name}/deploy`, { force: true }))
    },
    async key(name, more) {
      const permissions = [{ project_id: projectId, environments: '*' }]
      // What owners may not give, the operator gives.
      const maker = more?.['plan'] === 'unlimited' ? t.operator : owner
      return (await expectStatus(201, maker.post('/v1/api-keys', { name, permissions, ...more }))).body.secret
    },
    callWith: (secret, name, at = 'production') =>
      t.withToken(secret).post(`/v1/queries/${name}`, { region: 'north' }, { 'x-sluice-environment': at }),
  }
}

const salesByRegion = {
  name: 'sales_by_region',
  description: 'Revenue of one region.',
  sql: salesSql,
  slots: {
    properties: { region: { type: 'string', 'x-values-from': 'orders.region', description: 'north, south or east' } },
    required: ['region'],
  },
  examples: [
    { question: 'revenue in the north', parameters: { region: 'north' } },
    { question: 'how much did we sell in the south', parameters: { region: 'south' } },
    { question: 'sales of the east', parameters: { region: 'east' } },
    { question: 'what does the north earn', parameters: { region: 'north' } },
  ],
}

export function deployedList(page: Page, environment = 'production') {
  return page.getByRole('region', { name: `Deployed in ${environment}`, exact: true })
}

/** An entry of the rail, or one of the pages that share the entry that is shown. */
export function rail(page: Page, label: string) {
  return page
    .getByRole('navigation', { name: /^(Deploy|Pages of .+)$/ })
    .getByRole('link', { name: label, exact: true })
    .first()
}
