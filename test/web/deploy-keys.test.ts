import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, polled, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a key is limited to what is ticked, rotated, disabled, enabled and revoked', async () => {
  await stage.deploy('all_orders', 'sales_by_region')
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/keys`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'New API key' }).click()
  const making = page.getByRole('dialog', { name: 'New API key' })
  await making.getByRole('button', { name: 'Create key' }).click()
  await making.getByText('Name it after what will call with it.').waitFor()
  await making.getByLabel('Name').fill('north office')
  const queries = making.getByRole('radiogroup', { name: 'Queries of Corner shop' })
  await queries.getByLabel('Only these').check()
  await queries.getByLabel('sales_by_region').check()
  await making.getByRole('button', { name: 'Fix a slot' }).click()
  await making.getByLabel('Slot 1', { exact: true }).fill('region')
  await making.getByLabel('Value of slot 1').fill('north')
  await making.getByLabel('Expires').click()
  await page.getByRole('option', { name: 'In 90 days' }).click()
  await making.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Shown only this once').waitFor()
  const first = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  const fixed = await stage.withToken(first).post('/v1/queries/sales_by_region', {})
  expect(fixed.body.data).toMatchObject([{ region: 'north' }])
  expect((await stage.withToken(first).post('/v1/queries/all_orders', {})).status).toBe(403)

  await page.getByRole('link', { name: 'north office' }).click()
  await page.getByRole('heading', { level: 1, name: 'north office' }).waitFor()
  const reach = page.getByRole('region', { name: 'Access' })
  await reach.getByRole('row', { name: 'Corner shop production sales_by_region' }).waitFor()
  await page.getByText('region = "north"').waitFor()
  const lastUsed = page.locator('dt', { hasText: 'Last used' }).locator('xpath=following-sibling::dd[1]')
  const used = async (): Promise<string | null> => {
    await page.reload()
    return lastUsed.textContent()
  }
  await expect.poll(used, { timeout: waitMs, interval: 500 }).toBe('just now')
  const status = async (): Promise<number> =>
    (await stage.withToken(first).post('/v1/queries/sales_by_region', {})).status
  const choose = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'What to do with north office' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  await choose('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable north office' }).click()
  await page.getByText('Nothing while it is disabled.').waitFor()
  await expect.poll(status, polled).toBe(401)
  await choose('Enable')
  await page.getByText('north office works again.').waitFor()
  await expect.poll(status, polled).toBe(200)

  await choose('Rotate')
  const rotating = page.getByRole('dialog', { name: 'Rotate north office' })
  await rotating.getByLabel('The old secret stays good for').click()
  await page.getByRole('option', { name: 'Not at all' }).click()
  await rotating.getByRole('button', { name: 'Rotate north office' }).click()
  const second = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await expect.poll(status, polled).toBe(401)
  const fresh = async (): Promise<number> =>
    (await stage.withToken(second).post('/v1/queries/sales_by_region', {})).status
  await expect.poll(fresh, polled).toBe(200)

  await choose('Revoke')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke north office' }).click()
  await page.getByText('north office is revoked.').waitFor()
  await expect.poll(fresh, polled).toBe(401)
  await page.getByRole('button', { name: 'What to do with north office' }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a key is given another name, reach, plan and end, and its callers notice', async () => {
  await stage.deploy('all_orders', 'sales_by_region')
  const secret = await stage.key('first name', { expires_at: new Date(Date.now() + 86_400_000).toISOString() })
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/keys`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'What to do with first name' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const editing = page.getByRole('dialog', { name: 'Edit first name' })
  await editing.getByLabel('Name').fill('')
  await editing.getByRole('button', { name: 'Save changes' }).click()
  await editing.getByText('Name it after what will call with it.').waitFor()
  await editing.getByLabel('Name').fill('south office')
  const queries = editing.getByRole('radiogroup', { name: 'Queries of Corner shop' })
  await queries.getByLabel('Only these').check()
  await queries.getByLabel('sales_by_region').check()
  await editing.getByLabel('Expires').click()
  await page.getByRole('option', { name: 'Never' }).click()
  await editing.getByLabel('Plan').click()
  await page.getByRole('option', { name: /^scale/ }).click()
  await editing.getByRole('button', { name: 'Fix a slot' }).click()
  await editing.getByLabel('Slot 1', { exact: true }).fill('region')
  await editing.getByLabel('Value of slot 1').fill('south')
  await editing.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('south office is changed.').waitFor()

  const call = stage.withToken(secret)
  await expect.poll(async () => (await call.post('/v1/queries/all_orders', {})).status, polled).toBe(403)
  const fixed = await call.post('/v1/queries/sales_by_region', {})
  expect(fixed.body.data).toMatchObject([{ region: 'south' }])
  expect(fixed.headers['x-ratelimit-limit']).toBe('6000')

  await page.getByRole('link', { name: 'south office' }).click()
  await page.locator('dt:text-is("Expires") + dd:text-is("never")').waitFor()
  await page.getByRole('button', { name: 'What to do with south office' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const again = page.getByRole('dialog', { name: 'Edit south office' })
  expect(await again.getByLabel('Value of slot 1').inputValue()).toBe('south')
  expect(await again.getByLabel('sales_by_region').isChecked()).toBe(true)
  expect(await again.getByText('Every project, now and later').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a key has limits of its own from the start, gets others, and goes back to those of its plan', async () => {
  await stage.deploy('sales_by_region')
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/keys`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'New API key' }).click()
  const making = page.getByRole('dialog', { name: 'New API key' })
  await making.getByLabel('Name').fill('night batch')
  await making.getByLabel('Burst').fill('15')
  await making.getByRole('button', { name: 'Create key' }).click()
  await making.getByText('Say how many a minute as well.').waitFor()
  await making.getByLabel('Calls a minute').fill('300')
  await making.getByLabel('Calls a day').fill('50000')
  await making.getByRole('button', { name: 'Create key' }).click()
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  const limits = async (): Promise<unknown> => {
    const { body } = await stage.withToken(secret).get('/v1/key')
    return body.limits.map(({ quota, window_seconds: seconds, burst }: Record<string, number>) => [
      quota,
      seconds,
      burst,
    ])
  }
  await expect.poll(limits, polled).toEqual([
    [300, 60, 15],
    [50_000, 86_400, 50_000],
  ])
  await page.getByRole('link', { name: 'night batch' }).click()
  await page.getByText('with limits of its own: 300 calls a minute, burst 15, 50,000 calls a day').waitFor()

  const edit = async () => {
    await page.getByRole('button', { name: 'What to do with night batch' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    return page.getByRole('dialog', { name: 'Edit night batch' })
  }
  const editing = await edit()
  expect(await editing.getByLabel('Calls a minute').inputValue()).toBe('300')
  await editing.getByLabel('Calls a minute').fill('30')
  await editing.getByLabel('Burst').fill('')
  await editing.getByLabel('Calls a day').fill('')
  await editing.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('with limits of its own: 30 calls a minute, burst 30').waitFor()
  await expect.poll(limits, polled).toEqual([[30, 60, 30]])

  const again = await edit()
  await again.getByLabel('Calls a minute').fill('')
  await again.getByLabel('Burst').fill('')
  await again.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('pro: 600 calls a minute, burst 100').waitFor()
  await expect.poll(limits, polled).toEqual([[600, 60, 100]])
  expect(complaints).toEqual([])
})

test('an administrator makes a key that reaches every project, those to come included', async () => {
  await stage.deploy('sales_by_region')
  const { page, complaints } = await stage.visit(await stage.signInLink())
  await page.getByRole('button', { name: 'Your account' }).waitFor()
  const made = await (await stage.administrator()).post('/v1/projects', { name: 'Later shop' })
  await page.goto(`/p/${made.body.id}/deploy/keys`)
  await page.getByRole('button', { name: 'New API key' }).click()
  const making = page.getByRole('dialog', { name: 'New API key' })
  await making.getByLabel('Name').fill('everywhere')
  await making.getByLabel('Every project, now and later').check()
  await making.getByRole('button', { name: 'Create key' }).click()
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText('everything in every environment; every project').waitFor()
  // It reaches the projects of other files, too, so the call says which is meant.
  const project = { 'x-sluice-project': stage.projectId }
  const called = await stage.withToken(secret).post('/v1/queries/sales_by_region', { region: 'north' }, project)
  expect(called.status).toBe(200)
  expect(complaints).toEqual([])
})
