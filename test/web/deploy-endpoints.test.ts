import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { takePicture } from './barriers.ts'
import { deployedList, openStage, rail, waitMs, type Stage } from './stage.ts'
import { moveTo } from './navigate.ts'

const run = promisify(execFile)

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a query is deployed, called with a new key by the copied line, broken, rolled back and undeployed', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy`)
  page.setDefaultTimeout(waitMs)

  await page.getByText('Nothing answers in production yet').waitFor()
  await page.getByRole('button', { name: 'Deploy sales_by_region' }).click()
  const sheet = page.getByRole('dialog', { name: 'Deploy sales_by_region to production' })
  await sheet.getByText('no caller is affected').waitFor()
  await sheet.getByRole('button', { name: 'Deploy version 1' }).click()
  await page.getByText('Version 1 of sales_by_region now answers in production.').waitFor()
  await deployedList(page).getByText('by Ada Lindqvist').waitFor()

  await rail(page, 'Keys').click()
  await page.getByRole('button', { name: 'New API key' }).click()
  const making = page.getByRole('dialog', { name: 'New API key' })
  await making.getByLabel('Name').fill('web shop')
  await making.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Shown only this once').waitFor()
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText('everything in production').waitFor()
  expect((await page.content()).includes(secret)).toBe(false)

  await rail(page, 'Endpoints').click()
  await deployedList(page).getByRole('link', { name: 'sales_by_region' }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('200 OK').waitFor()
  await page.getByRole('gridcell', { name: 'north' }).waitFor()
  await page.getByText('With a key', { exact: true }).click()
  await page.getByLabel('API key', { exact: true }).fill(secret)
  await page.getByRole('combobox', { name: 'region' }).fill('south')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('gridcell', { name: 'south' }).waitFor()
  await page.getByText('Headers', { exact: true }).click()
  await page.getByText('x-sluice-version: 1').waitFor()

  const pasted: Record<string, string> = {}
  for (const language of ['curl', 'TypeScript', 'Python']) {
    await page.getByText(language, { exact: true }).click()
    await page.getByRole('button', { name: 'Copy snippet' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    pasted[language] = String(await page.evaluate('navigator.clipboard.readText()'))
    await page.getByRole('button', { name: 'Copy snippet' }).waitFor()
  }
  const env = { ...process.env, SLUICE_API_KEY: secret }
  expect(JSON.stringify(pasted)).not.toContain(secret)
  const byCurl = await run('bash', ['-c', pasted['curl'] ?? ''], { env, timeout: waitMs })
  expect(JSON.parse(byCurl.stdout)).toMatchObject({ data: [{ region: 'south' }], version: 1 })
  const folder = await mkdtemp(join(tmpdir(), 'sluice-snippet-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const script = join(folder, 'snippet.mts')
  await writeFile(script, pasted['TypeScript'] ?? '')
  const byTypeScript = await run(process.execPath, [script], { env, timeout: waitMs })
  expect(byTypeScript.stdout).toContain("region: 'south'")
  const byPython = await run('python3', ['-c', pasted['Python'] ?? ''], { env, timeout: waitMs })
  expect(byPython.stdout).toContain("'region': 'south'")

  await stage.edit('sales_by_region', {
    sql: 'select region, count(*) as orders from orders where region = $region group by region',
  })
  await moveTo(page, `/p/${stage.projectId}/deploy/endpoints/sales_by_region`)
  await page.getByText('draft has changes').waitFor()
  await page.getByRole('button', { name: 'Deploy…' }).click()
  await sheet.getByText('Existing callers would break.').waitFor()
  await sheet.getByText('Removes column revenue').waitFor()
  await sheet.getByText('Adds column orders').waitFor()
  await sheet.getByRole('listitem').filter({ hasText: 'web shop' }).waitFor()
  await sheet.getByText('4 test questions: same results as before.').waitFor()
  await sheet.getByRole('region', { name: 'What changes' }).getByText('count(*) as orders').waitFor()
  await takePicture(page, 'deploy-breaking-light-1280')
  const go = sheet.getByRole('button', { name: 'Deploy version 2' })
  expect(await go.isDisabled()).toBe(true)
  await sheet.getByLabel('The callers above know').check()
  await go.click()
  await page.getByText('Live: v2 in production').waitFor()
  expect((await stage.callWith(secret, 'sales_by_region')).body).toMatchObject({ version: 2, data: [{ orders: 1000 }] })

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Deploy to preview' }).click()
  const promote = page.getByRole('dialog', { name: 'Deploy sales_by_region to preview' })
  await promote.getByText('Nothing answers under this name in preview yet, so no caller is affected.').waitFor()
  await promote.getByText('4 test questions').waitFor()
  await promote.getByRole('button', { name: 'Deploy version 2' }).click()
  await page.getByRole('link', { name: 'v2 in preview' }).waitFor()

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Roll back to version 1' }).click()
  const rollback = page.getByRole('dialog', { name: 'Roll back sales_by_region in production' })
  await rollback.getByText('Adds column revenue').waitFor()
  await rollback.getByRole('listitem').filter({ hasText: 'web shop' }).waitFor()
  await rollback.getByText('4 test questions').waitFor()
  await rollback.getByRole('region', { name: 'What changes' }).getByText('sum(amount) as revenue').waitFor()
  await rollback.getByRole('button', { name: 'Roll back to version 1' }).click()
  await page.getByText('Live: v1 in production').waitFor()
  expect((await stage.callWith(secret, 'sales_by_region')).body).toMatchObject({ version: 1 })

  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByText('rolled production back to version 1 from 2').waitFor()
  await page.getByRole('region', { name: 'Difference' }).getByText('count(*) as orders').waitFor()

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Undeploy from production' }).click()
  const undeploy = page.getByRole('dialog', { name: 'Undeploy sales_by_region from production' })
  await undeploy.getByRole('listitem').filter({ hasText: 'web shop' }).waitFor()
  await undeploy
    .getByText('The 4 questions on record for it were asked as if it were gone: 4 would be refused.')
    .waitFor()
  await undeploy.getByText('“revenue in the north” goes to sales_by_region today and would be refused').waitFor()
  await undeploy.getByRole('button', { name: 'Undeploy sales_by_region' }).click()
  await page.getByText('Not deployed in production').waitFor()
  expect((await stage.callWith(secret, 'sales_by_region')).status).toBe(404)

  // The environment is in the address: what is shown survives a reload and can be sent on.
  await page.getByRole('button', { name: 'Environment production: choose another' }).click()
  await page.getByRole('menuitem', { name: 'preview' }).click()
  await page.getByText('Live: v2 in preview').waitFor()
  expect(new URL(page.url()).searchParams.get('environment')).toBe('preview')
  await page.reload()
  await page.getByRole('button', { name: 'Environment preview: choose another' }).waitFor()
  expect(complaints).toEqual([])
})

test('a viewer sees everything, changes nothing, and calls only with a key', async () => {
  await stage.deploy('sales_by_region')
  const { page, complaints } = await stage.visitAs(stage.viewer, `/p/${stage.projectId}/deploy`)
  page.setDefaultTimeout(waitMs)
  await page.getByText('You are a viewer here. Editors deploy').waitFor()
  await deployedList(page).getByRole('link', { name: 'sales_by_region' }).click()
  await page.getByRole('heading', { name: 'Columns' }).waitFor()
  expect(await page.getByRole('button', { name: /^(Deploy…|More for .+)$/ }).count()).toBe(0)
  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByRole('table', { name: 'Versions' }).waitFor()
  expect(await page.getByRole('button', { name: /^(Roll back to|Deploy) version/ }).count()).toBe(0)
  await page.getByRole('navigation', { name: 'sales_by_region' }).getByRole('link', { name: 'Try' }).click()
  await page.getByText('You are a viewer here: calls need an API key.').waitFor()
  await rail(page, 'Keys').click()
  await page.getByText('Ask one of them for a key.').waitFor()
  expect(await page.getByRole('button', { name: 'New API key' }).count()).toBe(0)
  expect(complaints).toEqual([])
})
