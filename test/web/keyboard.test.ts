import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasFocus, press, tabTo } from './by-keyboard.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({})
  await stage.deploy('sales_by_region')
})
afterAll(() => stage.close())

const rail = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Deploy' }).getByRole('link', { name })

test('keys, console, metrics, alerts and requests work by the keyboard alone', { timeout: 180_000 }, async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()

  await press(page, rail(page, 'API keys'))
  await press(page, page.getByRole('button', { name: 'New API key' }))
  const making = page.getByRole('dialog', { name: 'New API key' })
  await tabTo(page, making.getByLabel('Name'))
  await page.keyboard.type('by hand')
  await press(page, making.getByRole('radio', { name: 'All that are deployed there' }), 'ArrowUp')
  await press(page, making.getByRole('checkbox', { name: 'sales_by_region' }), 'Space')
  await press(page, making.getByRole('button', { name: 'Create key' }))
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await press(page, page.getByRole('button', { name: 'I have stored it' }))
  await page.getByRole('link', { name: 'by hand' }).waitFor()
  await press(page, page.getByRole('button', { name: 'What to do with by hand' }))
  await tabTo(page, page.getByRole('menuitem', { name: 'Edit' }), 'ArrowDown')
  await page.keyboard.press('Enter')
  const editing = page.getByRole('dialog', { name: 'Edit by hand' })
  await tabTo(page, editing.getByLabel('Name'))
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' and eye')
  await page.keyboard.press('Enter')
  await page.getByText('by hand and eye is changed.').waitFor()

  await press(page, rail(page, 'Try it'))
  await page.getByRole('heading', { level: 1, name: 'Try it' }).waitFor()
  await tabTo(page, page.getByRole('radiogroup', { name: 'Call as' }))
  await page.keyboard.press('ArrowRight')
  await tabTo(page, page.getByLabel('API key', { exact: true }))
  await page.keyboard.type(secret)
  await tabTo(page, page.getByRole('combobox', { name: 'region' }))
  await page.keyboard.press('Control+a')
  await page.keyboard.type('east')
  await page.keyboard.press('Escape')
  await press(page, page.getByRole('button', { name: 'Call', exact: true }))
  await page.getByRole('gridcell', { name: 'east' }).waitFor()
  await tabTo(page, page.getByRole('grid', { name: 'Rows of the answer' }))

  await press(page, rail(page, 'Metrics'))
  await page.getByRole('heading', { level: 1, name: 'Metrics' }).waitFor()
  await tabTo(page, page.getByRole('combobox', { name: 'Time' }))
  await page.keyboard.press('Enter')
  const week = page.getByRole('option', { name: 'The last week' })
  await week.waitFor()
  // Where the list begins depends on whether it has found its selection yet; it goes round.
  for (let step = 0; step < 10 && (await week.getAttribute('data-combobox-selected')) === null; step += 1) {
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).searchParams.get('hours')).toBe('168')
  await press(page, page.getByRole('button', { name: 'Show calls as a table' }))
  await tabTo(page, page.getByRole('region', { name: 'Calls', exact: true }))

  await press(page, rail(page, 'Alerts'))
  await press(page, page.getByRole('button', { name: 'New alert' }))
  const alert = page.getByRole('dialog', { name: 'New alert' })
  await tabTo(page, alert.getByLabel('Address of channel 1'))
  await page.keyboard.type('https://hooks.example.org/keyboard')
  await press(page, alert.getByRole('button', { name: 'Create alert' }))
  await press(page, page.getByRole('button', { name: 'I have stored it' }))
  await press(page, page.getByRole('switch', { name: 'Too many errors is on' }), 'Space')
  await page.getByText('Off', { exact: true }).waitFor()
  await press(page, page.getByRole('button', { name: 'Delete Too many errors' }))
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Delete Too many errors' }))
  await page.getByText('Hear of trouble before your callers tell you').waitFor()

  await press(page, rail(page, 'Requests'))
  await press(page, page.getByRole('switch', { name: 'Live' }), 'Space')
  await page.getByText('New ones wait until you go on.').waitFor()
  expect(complaints).toEqual([])
})

test('a query is changed, run and deployed by the keyboard alone', { timeout: 120_000 }, async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/all_orders`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('heading', { level: 1, name: 'all_orders' }).waitFor()
  await tabTo(page, page.getByRole('textbox', { name: 'SQL' }))
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' limit 7')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: 'Result', exact: true }).getByText('7 rows').waitFor()
  // Tab writes in the editor, so it says how to leave.
  await page.getByText('leaves the editor').waitFor()
  await page.keyboard.press('Escape')
  await tabTo(page, page.getByLabel('Description'))
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Seven orders.')
  await page.keyboard.press('Shift+Tab')
  await press(page, page.getByRole('button', { name: 'Save draft' }))
  await page.getByText('The draft is saved.').waitFor()
  await press(page, page.getByRole('button', { name: 'Deploy…' }))
  // A dialog takes the keyboard at once, also while it has yet to find out what to say.
  await expect.poll(() => hasFocus(page.getByRole('dialog'), ':focus-within')).toBe(true)
  await press(page, page.getByRole('button', { name: 'Deploy version 1' }))
  await page.getByText('production v1').waitFor()
  expect(complaints).toEqual([])
})

test(
  'an endpoint is deployed, promoted, rolled back and undeployed by the keyboard alone',
  { timeout: 180_000 },
  async () => {
    const at = `/p/${stage.projectId}/deploy`
    const { page, complaints } = await stage.visitAs(stage.owner, at)
    page.setDefaultTimeout(waitMs)
    await stage.edit('sales_by_region', {
      sql: 'select region, count(*) as n from orders where region = $region group by 1',
    })
    await page.goto(`${at}/endpoints`)
    await press(page, page.getByRole('link', { name: 'sales_by_region' }))
    await press(page, page.getByRole('button', { name: 'Deploy', exact: true }))
    const sheet = page.getByRole('dialog', { name: 'Deploy sales_by_region to production' })
    await sheet.getByText('Existing callers would break.').waitFor()
    await press(page, sheet.getByLabel('The callers above know'), 'Space')
    await press(page, sheet.getByRole('button', { name: 'Deploy version 2' }))
    await page.getByText('Version 2 in production', { exact: true }).waitFor()
    const choose = async (item: string): Promise<void> => {
      await press(page, page.getByRole('button', { name: 'More' }))
      await tabTo(page, page.getByRole('menuitem', { name: item }), 'ArrowDown')
      await page.keyboard.press('Enter')
    }
    await choose('Deploy to staging')
    await press(page, page.getByRole('button', { name: 'Deploy version 2' }))
    await page.getByText('Version 2 in staging', { exact: true }).waitFor()
    await choose('Roll back to version 1')
    await press(page, page.getByRole('button', { name: 'Roll back to version 1' }))
    await page.getByText('Version 1 in production', { exact: true }).waitFor()
    await press(page, page.getByRole('navigation', { name: 'sales_by_region' }).getByRole('link', { name: 'History' }))
    await page.getByText('rolled production back to version 1').waitFor()
    await choose('Undeploy from production')
    await press(page, page.getByRole('button', { name: 'Undeploy sales_by_region' }))
    await page.getByText('Not deployed in production').waitFor()
    await press(page, page.getByRole('button', { name: 'Environment production' }))
    await tabTo(page, page.getByRole('menuitem', { name: 'staging' }), 'ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Environment staging: choose another' }).waitFor()
    expect(complaints).toEqual([])
  },
)

test('people, tokens, environments and the log are managed by the keyboard alone', { timeout: 120_000 }, async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/settings/members`)
  page.setDefaultTimeout(waitMs)
  const settings = (name: string): Locator =>
    page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name })
  await press(page, page.getByRole('button', { name: 'Invite by link' }))
  await press(page, page.getByRole('radio', { name: 'Viewer' }), 'ArrowDown')
  await press(page, page.getByRole('button', { name: 'Create link' }))
  await press(page, page.getByRole('button', { name: 'I have stored it' }))
  await press(page, page.getByRole('button', { name: /^Withdraw/ }))
  await press(page, page.getByRole('dialog').getByRole('button', { name: /^Withdraw/ }))
  await press(page, settings('Management tokens'))
  await press(page, page.getByRole('button', { name: 'New token' }))
  await tabTo(page, page.getByRole('dialog').getByLabel('Name'))
  await page.keyboard.type('by hand')
  await page.keyboard.press('Enter')
  await press(page, page.getByRole('button', { name: 'I have stored it' }))
  await press(page, page.getByRole('button', { name: 'Revoke by hand' }))
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Revoke by hand' }))
  await page.getByText('Revoked', { exact: true }).waitFor()
  await press(page, settings('Environments'))
  await press(page, page.getByRole('button', { name: 'Add environment' }))
  await tabTo(page, page.getByRole('dialog').getByLabel('Name'))
  await page.keyboard.type('rehearsal')
  await page.keyboard.press('Enter')
  await page.getByText('The environment rehearsal is ready.').waitFor()
  await press(page, settings('Audit log'))
  await press(page, page.getByRole('button', { name: /added the environment rehearsal/ }))
  await page.getByText('environment.added').waitFor()
  expect(complaints).toEqual([])
})
