import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { openTestWeb, type TestWeb, type Visitor } from '../harness/web.ts'
import { findBarriers } from './barriers.ts'
import { load, moveTo } from './navigate.ts'

let t: TestWeb
let owner: Person
let viewer: Person
let projectId: string
let invitation: string
/** Each with a browser for all pages. */
const visitors = new Map<Person | null, Visitor>()

beforeAll(async () => {
  t = await openTestWeb()
  projectId = await t.project('Corner shop')
  owner = await t.member(projectId, 'owner')
  viewer = await t.member(projectId, 'viewer')
  await owner.patch('/v1/session/user', { name: 'Ada Lindqvist' })
  await viewer.patch('/v1/session/user', { name: 'Marek Novák' })
  await t.member(projectId, 'editor')
  await owner.post('/v1/projects', { name: 'Warehouse' })
  await owner.post('/v1/projects', { name: 'Marketing of the northern region' })
  const made = await expectStatus(
    201,
    owner.post(`/v1/projects/${projectId}/invitations`, { role: 'editor', email: 'kim@example.org' }),
  )
  invitation = new URL(String(made.body.link)).pathname + new URL(String(made.body.link)).hash
  await owner.post('/v1/management-tokens', { name: 'deploy pipeline', role: 'editor', project_id: projectId })
  const old = await owner.post('/v1/management-tokens', { name: 'old laptop', role: 'viewer' })
  await owner.delete(`/v1/management-tokens/${old.body.id}`)
  await owner.post(`/v1/projects/${projectId}/environments`, { name: 'preview' })
  await expectStatus(
    201,
    owner.post(`/v1/projects/${projectId}/datasources`, {
      name: 'Orders of the shop',
      kind: 'http_api',
      config: {
        url: 'https://api.example.org/orders',
        method: 'GET',
        authType: 'Bearer Token',
        auth: { token: 'a secret of someone else' },
      },
    }),
  )
  visitors.set(null, await t.visit('/sign-in'))
  for (const person of [owner, viewer]) visitors.set(person, await t.visitAs(person, '/account'))
})
afterAll(() => t.close())

type Shown = {
  name: string
  path: () => string | Promise<string>
  who: () => Person | null
  /** What says that the page is all there. */
  ready: (page: Page) => Promise<void>
}

const heading = (name: string) => async (page: Page) => page.getByRole('heading', { level: 1, name }).waitFor()
const settings = (section: string) => () => `/p/${projectId}/settings/${section}`
const asOwner = () => owner
const nobody = () => null

async function openDialog(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).first().click()
  await page.getByRole('dialog').waitFor()
}

const pages: Shown[] = [
  { name: 'sign-in', path: () => '/sign-in', who: nobody, ready: heading('Sign in') },
  {
    name: 'sign-in-refused',
    path: () => '/sign-in#slc_link_wrong',
    who: nobody,
    ready: async (page) => page.getByRole('alert').waitFor(),
  },
  { name: 'join', path: () => invitation, who: nobody, ready: heading('Join Corner shop') },
  { name: 'join-signed-in', path: () => invitation, who: asOwner, ready: heading('Join Corner shop') },
  { name: 'projects', path: () => '/', who: asOwner, ready: heading('Projects') },
  {
    name: 'new-project',
    path: () => '/',
    who: asOwner,
    ready: (page) => openDialog(page, 'New project'),
  },
  { name: 'account', path: () => '/account', who: asOwner, ready: heading('Account') },
  {
    name: 'members',
    path: settings('members'),
    who: asOwner,
    ready: async (page) => page.getByText('kim@example.org').waitFor(),
  },
  { name: 'invite', path: settings('members'), who: asOwner, ready: (page) => openDialog(page, 'Invite by link') },
  {
    name: 'members-viewer',
    path: settings('members'),
    who: () => viewer,
    ready: async (page) => page.getByText('Marek Novák').waitFor(),
  },
  {
    name: 'tokens',
    path: settings('tokens'),
    who: asOwner,
    ready: async (page) => page.getByText('deploy pipeline').waitFor(),
  },
  { name: 'tokens-empty', path: settings('tokens'), who: () => viewer, ready: heading('Management tokens') },
  { name: 'new-token', path: settings('tokens'), who: asOwner, ready: (page) => openDialog(page, 'New token') },
  {
    name: 'environments',
    path: settings('environments'),
    who: asOwner,
    ready: async (page) => page.getByText('preview').waitFor(),
  },
  {
    name: 'audit',
    path: settings('audit'),
    who: asOwner,
    ready: async (page) => page.getByRole('button', { name: /added the environment preview/ }).click(),
  },
  {
    name: 'secrets',
    path: settings('secrets'),
    who: asOwner,
    ready: async (page) => page.getByText('auth token').waitFor(),
  },
  {
    name: 'retention',
    path: settings('retention'),
    who: asOwner,
    ready: async (page) => page.getByText('History of alerts').waitFor(),
  },
  { name: 'docs', path: () => '/docs', who: asOwner, ready: heading('Guides') },
  { name: 'docs-stranger', path: () => '/docs/quick-start', who: nobody, ready: heading('Quick start') },
  // With every kind of part; what differs in the others is looked at as it is generated (test/docs/guides.test.ts).
  { name: 'docs-write-a-query', path: () => '/docs/write-a-query', who: asOwner, ready: heading('Write a query') },
  {
    name: 'docs-calls',
    path: () => '/docs/calls',
    who: asOwner,
    ready: async (page) => page.getByText('/v1/queries/{query_name}').first().click(),
  },
  {
    name: 'docs-search',
    path: () => '/docs/glossary',
    who: asOwner,
    ready: async (page) => {
      await page.getByLabel('Search the guides').fill('canary')
      await page.getByRole('list', { name: 'Found in the guides' }).getByRole('link').first().waitFor()
    },
  },
  { name: 'project', path: settings('project'), who: asOwner, ready: heading('Project') },
  {
    name: 'delete-project',
    path: settings('project'),
    who: asOwner,
    ready: (page) => openDialog(page, 'Delete Corner shop'),
  },
  {
    name: 'jump',
    path: settings('members'),
    who: asOwner,
    ready: async (page) => {
      await page.getByText('kim@example.org').waitFor()
      await page.keyboard.press('Control+k')
      await page.getByPlaceholder('Jump to a page').waitFor()
    },
  },
  {
    name: 'account-menu',
    path: settings('members'),
    who: asOwner,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Your account' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
    },
  },
  {
    name: 'switch',
    path: settings('members'),
    who: asOwner,
    ready: async (page) => {
      await page.getByRole('button', { name: 'choose another' }).click()
      await page.getByRole('menuitem', { name: 'Warehouse' }).waitFor()
    },
  },
  {
    name: 'token-secret',
    path: settings('tokens'),
    who: asOwner,
    ready: async (page) => {
      await openDialog(page, 'New token')
      await page.getByLabel('Name').fill('nightly report')
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByText('Shown only this once').waitFor()
    },
  },
  {
    name: 'act-refused',
    path: settings('environments'),
    who: asOwner,
    ready: async (page) => {
      await openDialog(page, 'Add environment')
      await page.getByLabel('Name').fill('production')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
    },
  },
  {
    name: 'field-refused',
    path: settings('environments'),
    who: asOwner,
    ready: async (page) => {
      await openDialog(page, 'Add environment')
      await page.getByLabel('Name').fill('Dress rehearsal')
      await page.keyboard.press('Enter')
      await page.getByText(/Must begin with a lower-case letter/).waitFor()
    },
  },
  { name: 'no-project', path: () => '/p/prj_none', who: asOwner, ready: heading('There is no such project') },
  { name: 'not-found', path: () => '/docs/none', who: asOwner, ready: heading('There is nothing here') },
  {
    // The last of this person: they are signed out by it.
    name: 'session-ended',
    path: settings('members'),
    who: () => viewer,
    ready: async (page) => {
      await page.getByText('Marek Novák').waitFor()
      await page.context().clearCookies()
      await page.getByRole('link', { name: 'Secrets and variables' }).click()
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    },
  },
  { name: 'first-user', path: () => t.signInLink(), who: nobody, ready: heading('Projects') },
]

test.each(pages)('$name has no barrier, no complaint and no sideways scroll', async ({ name, path, who, ready }) => {
  const visitor = visitors.get(who())
  if (visitor === undefined) throw new Error('Nobody looks at this page.')
  const { page, complaints } = visitor
  await page.setViewportSize({ width: 1280, height: 800 })
  await (who() === null ? load(page, await path()) : moveTo(page, await path()))
  await ready(page)
  expect(await findBarriers(page, name)).toEqual([])
  expect(complaints.splice(0)).toEqual([])
})
