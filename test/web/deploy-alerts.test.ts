import { Webhook } from 'standardwebhooks'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../harness/receivers.ts'
import { takePicture } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
  stage = await openStage({ SLUICE_OUTBOUND_ALLOW: receiver.host, SLUICE_ALERT_INTERVAL_SECONDS: '1' })
  stage.app.alerts.start()
})
afterAll(async () => {
  await stage.close()
  await receiver.close()
})

function alertNamed(page: Page, name: string) {
  return page
    .getByRole('list', { name: 'Alerts' })
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: `Edit ${name}` }) })
}

/** The messages of a kind that have arrived, checked with the secret that was shown. */
function arrived(kind: string, secret: string): Array<{ data: { state: string; value: number } }> {
  const webhook = new Webhook(secret)
  return receiver.received
    .map(
      ({ body, headers }) => webhook.verify(body, headers) as { type: string; data: { state: string; value: number } },
    )
    .filter(({ type }) => type === kind)
}

test(
  'an alert fires and is well again before one’s eyes, and the webhook hears of both',
  { timeout: 90_000 },
  async () => {
    await stage.deploy('sales_by_region')
    const caller = stage.withToken(await stage.key('storefront', { plan: 'unlimited' }))
    const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/alerts`)
    page.setDefaultTimeout(waitMs)
    await page.getByRole('button', { name: 'New alert' }).click()
    const making = page.getByRole('dialog', { name: 'New alert' })
    await making.getByLabel('Name').fill('Broken calls')
    await making.getByLabel('Above').fill('50')
    await making.getByLabel('Within').fill('1')
    await making.getByLabel('Address of channel 1').fill(`${receiver.origin}/hook`)
    await making.getByRole('button', { name: 'Create alert' }).click()
    const secret = await page.getByLabel('Webhook secret').inputValue()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const row = alertNamed(page, 'Broken calls')
    await row.getByText('All well').waitFor()

    for (let count = 0; count < 3; count += 1) await caller.post('/v1/queries/sales_by_region', {})
    await row.getByText('Firing').waitFor()
    // Seen from every page.
    await page.getByRole('link', { name: '1 alert fires: Broken calls' }).waitFor()
    await takePicture(page, 'alert-firing-light-1280')
    await expect
      .poll(() => arrived('alert.firing', secret), { timeout: waitMs })
      .toMatchObject([
        {
          data: {
            name: 'Broken calls',
            state: 'firing',
            value: 1,
            threshold: 0.5,
            query: null,
            environment: 'production',
          },
        },
      ])

    // The bad minute passes, and good calls follow.
    stage.advance(120_000)
    for (let count = 0; count < 3; count += 1) await caller.post('/v1/queries/sales_by_region', { region: 'north' })
    await row.getByText('All well').waitFor()
    await expect
      .poll(() => arrived('alert.resolved', secret), { timeout: waitMs })
      .toMatchObject([{ data: { state: 'ok' } }])

    await row.getByRole('button', { name: 'History' }).click()
    const history = page.getByRole('dialog', { name: 'History of Broken calls' })
    const happened = history.getByRole('region', { name: 'What happened' })
    await happened.getByRole('row', { name: 'Fired' }).waitFor()
    await happened.getByRole('row', { name: 'Resolved' }).waitFor()
    await expect.poll(() => history.getByText('Delivered').count()).toBe(2)
    expect(complaints).toEqual([])
  },
)

test('an alert has several channels, is tested, edited, turned off and deleted', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/alerts`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'New alert' }).click()
  const making = page.getByRole('dialog', { name: 'New alert' })
  await making.getByRole('button', { name: 'Create alert' }).click()
  await making.getByText('Say where to tell it').waitFor()
  await making.getByLabel('Address of channel 1').fill(`${receiver.origin}/hook`)
  await making.getByRole('button', { name: 'Add a channel' }).click()
  await making.getByRole('combobox', { name: 'Channel 2', exact: true }).click()
  await page.getByRole('option', { name: 'E-mail' }).click()
  await making.getByLabel('Address of channel 2').fill('team@example.org')
  await making.getByRole('button', { name: 'Create alert' }).click()
  await making.getByText(/needs a mail server|SLUICE_SMTP_URL/).waitFor()
  await making.getByRole('combobox', { name: 'Channel 2', exact: true }).click()
  await page.getByRole('option', { name: 'Slack' }).click()
  await making.getByLabel('Address of channel 2').fill(`${receiver.origin}/slack`)
  await making.getByRole('button', { name: 'Create alert' }).click()
  await page.getByText('Shown only this once').waitFor()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  const row = alertNamed(page, 'Too many errors')
  await row.getByText('Too many errors: above 5 % of calls within 5 min · in production').waitFor()
  await row.getByText(/tells Webhook /).waitFor()
  await row.getByText(/tells Slack /).waitFor()
  await row.getByRole('button', { name: 'Send a test' }).click()
  const tested = (): boolean => receiver.received.some(({ path, body }) => path === '/slack' && /test/i.test(body))
  await expect.poll(tested, { timeout: waitMs }).toBe(true)

  await row.getByRole('button', { name: 'Edit Too many errors' }).click()
  const editing = page.getByRole('dialog', { name: 'Edit Too many errors' })
  await editing.getByRole('combobox', { name: 'Notify when' }).click()
  await page.getByRole('option', { name: 'Too slow' }).click()
  expect(await editing.getByLabel('Name').inputValue()).toBe('Slow answers')
  await editing.getByLabel('Above').fill('250')
  await editing.getByRole('combobox', { name: 'Query' }).click()
  await page.getByRole('option', { name: 'sales_by_region' }).click()
  await editing.getByRole('combobox', { name: 'Environment' }).click()
  await page.getByRole('option', { name: 'Every environment' }).click()
  await editing.getByRole('button', { name: 'Advanced' }).click()
  await editing.getByLabel('Remind every').fill('60')
  await editing.getByRole('button', { name: 'Remove channel 1' }).click()
  await editing.getByRole('button', { name: 'Save changes' }).click()
  const changed = alertNamed(page, 'Slow answers')
  await changed.getByText('Too slow: above 250 ms at p95 within 5 min · sales_by_region').waitFor()
  await changed.getByText(/tells Slack/).waitFor()
  const listed = await stage.owner.get(`/v1/projects/${stage.projectId}/alerts`)
  const kept = listed.body.data.find(({ name }: { name: string }) => name === 'Slow answers')
  expect(kept).toMatchObject({ threshold: 250, remind_minutes: 60, environment: null, query: 'sales_by_region' })
  expect(kept.channels).toHaveLength(1)

  await changed.getByRole('switch').press('Space')
  await changed.getByText('Off', { exact: true }).waitFor()
  await changed.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete Slow answers' }).click()
  await changed.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a webhook gets a new secret, which is shown once and signs from then on beside or instead of the old one', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/alerts`)
  page.setDefaultTimeout(waitMs)
  const hook = `${receiver.origin}/hook`
  await page.getByRole('button', { name: 'New alert' }).click()
  const making = page.getByRole('dialog', { name: 'New alert' })
  await making.getByLabel('Name').fill('Well kept')
  await making.getByLabel('Address of channel 1').fill(hook)
  await making.getByRole('button', { name: 'Create alert' }).click()
  const first = await page.getByLabel('Webhook secret').inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  const row = alertNamed(page, 'Well kept')
  await row.getByRole('button', { name: 'Send a test of Well kept' }).click()
  await row.getByText('The test of Well kept was delivered.').waitFor()
  receiver.answer(404)
  await row.getByRole('button', { name: 'Send a test of Well kept' }).click()
  await row.getByText('The test of Well kept was not delivered.').waitFor()
  await row.getByText(/404/).waitFor()
  receiver.answer(204)
  receiver.received.length = 0

  const rotate = async (grace: string): Promise<string> => {
    await row.getByRole('button', { name: `Rotate secret of ${hook}` }).click()
    const rotating = page.getByRole('dialog', { name: 'Rotate the webhook of Well kept' })
    await rotating.getByLabel('The old secret stays good for').click()
    await page.getByRole('option', { name: grace }).click()
    await rotating.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByText('Shown only this once').waitFor()
    const secret = await page.getByLabel('Webhook secret').inputValue()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    expect((await page.content()).includes(secret)).toBe(false)
    return secret
  }
  /** Which of the secrets the next message can be checked with. */
  const signedWith = async (...secrets: string[]): Promise<boolean[]> => {
    const known = (): typeof receiver.received =>
      receiver.received.filter(({ body }) => body.includes('Well kept') && body.includes('alert.test'))
    const before = known().length
    await row.getByRole('button', { name: 'Send a test of Well kept' }).click()
    // A message may come twice; none may be missing.
    await expect.poll(() => known().length, { timeout: waitMs }).toBeGreaterThan(before)
    const { body, headers } = known().at(-1) ?? { body: '', headers: {} }
    return secrets.map((secret) => {
      try {
        new Webhook(secret).verify(body, headers)
        return true
      } catch {
        return false
      }
    })
  }
  const second = await rotate('One day')
  expect(await signedWith(first, second)).toEqual([true, true])
  const third = await rotate('Not at all')
  expect(await signedWith(first, second, third)).toEqual([false, false, true])
  expect(complaints).toEqual([])
})
