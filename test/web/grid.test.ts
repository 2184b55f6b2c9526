import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putTable } from '../harness/tables.ts'
import { askAxe, findBarriers, takePicture } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'
import { moveTo } from './navigate.ts'

/** Rows of data are looked at in one grid, wherever they are. */
let stage: Stage
let page: Page
let complaints: string[]
let grid: Locator

const sales = Array.from({ length: 2000 }, (_, at) => ({
  id: at + 1,
  city: ['Gent', 'Porto', 'Lyon', 'Turku'][at % 4],
  revenue: at === 7 ? null : Math.round((at * 7919) % 100_000) / 4,
  sold_at: new Date(Date.UTC(2024, 0, 1, 0, at)).toISOString(),
  buyer: { name: `Buyer ${at}`, tags: ['new', { since: 2020 }] },
  note: at % 3 === 0 ? `line ${at}, "quoted"` : null,
}))

beforeAll(async () => {
  stage = await openStage()
  await putTable(stage.app, stage.projectId, { name: 'sales', rows: sales })
  await stage.owner.post(stage.path, {
    name: 'sales_list',
    sql: 'select * from sales order by id',
    description: 'Sales.',
  })
  ;({ page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/sales_list`))
  page.setDefaultTimeout(waitMs)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
  grid = page.getByRole('grid', { name: 'Rows of the result' })
  await grid.getByRole('gridcell', { name: 'Gent' }).first().waitFor()
}, 120_000)
afterAll(() => stage.close())

const cellsOf = async (column: number): Promise<string[]> =>
  grid.locator(`[role=gridcell][aria-colindex="${column}"]`).allTextContents()
const firstRow = (): Locator => grid.locator('[role=row][aria-rowindex="2"]')
const clipboard = async (): Promise<string> => page.evaluate('navigator.clipboard.readText()')
const openColumn = async (name: string): Promise<Locator> => {
  await grid.getByRole('button', { name: `Column ${name}`, exact: true }).click()
  return page.getByRole('dialog', { name: `Column ${name}` })
}

test('numbers have separators, times are told by the clock of who reads them, and the exact value is at hand', async () => {
  // 1979.75, padded to the digits of its column.
  await grid.getByRole('gridcell', { name: '1,979.75', exact: true }).waitFor()
  const moment = grid.locator('[role=gridcell][aria-colindex="5"]').first()
  expect(await moment.textContent()).toMatch(/^202[34]-\d\d-\d\d \d\d:\d\d:\d\d$/)
  expect(await moment.getAttribute('title')).toContain('2024-01-01T00:00:00Z')
  await grid.getByRole('columnheader', { name: /city/ }).getByText('4 different').waitFor()
  await grid
    .getByRole('columnheader', { name: /note/ })
    .getByText(/67 % null/)
    .waitFor()
})

test('a click on a name sorts, a column is filtered by what it holds, and a search finds words anywhere', async () => {
  await grid.getByRole('button', { name: 'revenue', exact: true }).click()
  await grid
    .getByRole('columnheader', { name: /revenue/ })
    .and(page.locator('[aria-sort=ascending]'))
    .waitFor()
  const fallsAt = async (): Promise<number[]> => {
    const shown = (await cellsOf(4)).map((text) => Number(text.replaceAll(',', '')))
    return shown.filter((value, at) => value < (shown[at - 1] ?? -Infinity))
  }
  // The head says how rows are sorted as soon as it is asked; the rows follow.
  await expect.poll(fallsAt).toEqual([])
  await grid.getByRole('button', { name: 'revenue', exact: true }).click()
  await grid
    .getByRole('columnheader', { name: /revenue/ })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor()

  const menu = await openColumn('revenue')
  await menu.getByRole('combobox', { name: 'How revenue is filtered' }).click()
  await menu.getByRole('option', { name: 'is at most' }).click()
  await menu.getByLabel('Value').fill('1000')
  await menu.getByRole('button', { name: 'Show only these' }).click()
  await page.getByText('revenue is at most 1000').waitFor()
  const expected = sales.slice(0, 1000).filter(({ revenue }) => revenue !== null && revenue <= 1000)
  await page.getByText(`${expected.length} of 1,000 rows`).waitFor()
  await page.getByRole('searchbox', { name: 'Search in Rows of the result' }).fill('PORTO')
  const both = expected.filter(({ city }) => city === 'Porto')
  await page.getByText(`${both.length} of 1,000 rows`).waitFor()
  expect(new Set(await cellsOf(3))).toEqual(new Set(['Porto']))
  await page.getByRole('searchbox', { name: 'Search in Rows of the result' }).fill('nowhere at all')
  await grid.getByText('No row fits.').waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.getByRole('button', { name: 'Show all rows as they came' }).click()
  await page.getByText('1,000 rows', { exact: true }).waitFor()
})

test('columns are made wider, moved and hidden, with the pointer and without', async () => {
  const city = grid.getByRole('columnheader', { name: /^city/ })
  const before = (await city.boundingBox())?.width ?? 0
  const handle = await grid.locator('[data-resizes=city]').boundingBox()
  if (handle === null) throw new Error('no handle')
  await page.mouse.move(handle.x + 4, handle.y + 20)
  await page.mouse.down()
  await page.mouse.move(handle.x + 84, handle.y + 20, { steps: 4 })
  await page.mouse.up()
  await expect.poll(async () => (await city.boundingBox())?.width ?? 0).toBeGreaterThan(before + 40)
  await city.dragTo(grid.getByRole('columnheader', { name: /^id/ }))
  await expect.poll(() => city.getAttribute('aria-colindex')).toBe('2')
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  const choice = page.getByRole('dialog', { name: 'Columns' })
  await choice.getByRole('button', { name: 'Move city right' }).click()
  await expect.poll(() => city.getAttribute('aria-colindex')).toBe('3')
  await choice.getByRole('checkbox', { name: 'note' }).uncheck()
  await grid.getByRole('columnheader', { name: /^note/ }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
})

test('columns stay as they were arranged, for the query wherever it answers, until they are reset', async () => {
  await page.reload()
  await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
  const city = grid.getByRole('columnheader', { name: /^city/ })
  await expect.poll(() => city.getAttribute('aria-colindex')).toBe('3')
  await grid.getByRole('columnheader', { name: /^revenue/ }).waitFor()
  expect(await grid.getByRole('columnheader', { name: /^note/ }).count()).toBe(0)
  await stage.deploy('sales_list')
  await moveTo(page, `/p/${stage.projectId}/deploy/try?query=sales_list`)
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  const answer = page.getByRole('grid', { name: 'Rows of the answer' })
  await answer.getByRole('columnheader', { name: /^city/ }).waitFor()
  expect(await answer.getByRole('columnheader', { name: /^note/ }).count()).toBe(0)
  // A table of its own is arranged by itself.
  await moveTo(page, `/p/${stage.projectId}/build/data/sales/rows`)
  await page.getByRole('grid', { name: 'Rows of sales' }).getByRole('columnheader', { name: /^note/ }).waitFor()
  await moveTo(page, `/p/${stage.projectId}/build/queries/sales_list`)
  await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  await page.getByRole('dialog', { name: 'Columns' }).getByRole('button', { name: 'Reset columns' }).click()
  await grid.getByRole('columnheader', { name: /^note/ }).waitFor()
  const kept = `Object.keys(localStorage).filter((key) => key.startsWith('sluice-columns'))`
  expect(await page.evaluate(kept)).toEqual([])
  await page.keyboard.press('Escape')
})

test('only so many arrangements are kept, those of late', async () => {
  await page.evaluate(
    `for (let at = 0; at < 120; at += 1) localStorage.setItem('sluice-columns x ' + at, JSON.stringify({ order: [], hidden: [], widths: {}, at }))`,
  )
  const note = await openColumn('note')
  await note.getByRole('button', { name: 'Hide' }).click()
  const kept: string[] = await page.evaluate(
    `Object.keys(localStorage).filter((key) => key.startsWith('sluice-columns'))`,
  )
  expect(kept).toHaveLength(100)
  expect(kept).not.toContain('sluice-columns x 20')
  expect(kept).toContain('sluice-columns x 119')
  await page.evaluate('localStorage.clear()')
  await page.reload()
  await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
  await grid.getByRole('columnheader', { name: /^note/ }).waitFor()
})

test('the keyboard goes from cell to cell, opens one, and copies', async () => {
  await grid.focus()
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Control+C')
  expect(await clipboard()).toBe('Gent')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Control+C')
  expect(await clipboard()).toBe('Gent\t0\nPorto\t1979.75')
  await page.keyboard.press('Control+End')
  await grid.getByRole('rowheader', { name: '1,000', exact: true }).waitFor()
  expect(await grid.getByRole('row').count()).toBeLessThan(80)
  const active = await grid.getAttribute('aria-activedescendant')
  expect(await page.locator(`[id="${active}"]`).getAttribute('aria-colindex')).toBe('7')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('dialog', { name: /buyer/ })
  await drawer.getByRole('list', { name: 'Value of buyer' }).getByText('"Buyer 999"').waitFor()
  await drawer.getByRole('button', { name: 'Open tags' }).click()
  await drawer.getByRole('button', { name: 'Open 1', exact: true }).click()
  await drawer.getByText('2020', { exact: true }).waitFor()
  expect(await askAxe(page, false)).toEqual([])
  await takePicture(page, 'grid-drawer')
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('grid')
  // From the header the arrows go along the names; Ctrl makes a column wider, Enter opens what can be done with it.
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Space')
  await page.locator('[role=columnheader][aria-sort=ascending]').waitFor()
  await page.keyboard.press('Enter')
  const menu = page.getByRole('dialog', { name: 'Column id' })
  await menu.getByText('1,000 different values, 1 to 1000').waitFor()
  expect(await askAxe(page, false)).toEqual([])
  await takePicture(page, 'grid-menu')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Do not sort by id' }).click()
})

test('rows are copied as CSV, TSV, Markdown and JSON, and saved in every form that the API has', async () => {
  await page.getByRole('searchbox', { name: 'Search in Rows of the result' }).fill('buyer 30"')
  await page.getByText('1 of 1,000 rows').waitFor()
  const copy = async (form: string): Promise<string> => {
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByRole('dialog', { name: 'Copy' }).getByRole('button', { name: form }).click()
    await page.getByText('1 row copied.').first().waitFor()
    return clipboard()
  }
  expect(await copy('CSV')).toContain('"line 30, ""quoted"""')
  await expect.poll(() => copy('Markdown')).toMatch(/^\| id \| city \|/)
  await expect.poll(() => copy('TSV')).toMatch(/^id\tcity\t/)
  await expect.poll(async () => JSON.parse(await copy('JSON'))[0].buyer.name).toBe('Buyer 30')
  await page.getByRole('button', { name: 'Clear the search' }).click()

  const save = async (form: string | RegExp): Promise<{ name: string; bytes: Buffer }> => {
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download', exact: true }).click()
    await page.getByRole('dialog', { name: 'Download' }).getByRole('button', { name: form }).click()
    const file = await coming
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
  }
  // Of the whole result: a preview shows a thousand rows of it.
  const csv = await save('CSV')
  expect(csv.name).toBe('sales_list.csv')
  expect(csv.bytes.toString().trimEnd().split('\n')).toHaveLength(2001)
  expect((await save(/^NDJSON/)).bytes.toString().trimEnd().split('\n')).toHaveLength(2000)
  expect((await save('Parquet')).bytes.subarray(0, 4).toString()).toBe('PAR1')
  expect((await save('Arrow')).bytes.length).toBeGreaterThan(1000)
  expect(complaints).toEqual([])
})

test('a table is sorted, filtered and searched whole, however much of it is in sight', async () => {
  await moveTo(page, `/p/${stage.projectId}/build/data/sales/rows`)
  grid = page.getByRole('grid', { name: 'Rows of sales' })
  await firstRow().getByText('Gent').waitFor()
  await grid.getByRole('button', { name: 'id', exact: true }).click()
  await grid.getByRole('button', { name: 'id', exact: true }).click()
  await firstRow().getByRole('gridcell', { name: '2000', exact: true }).waitFor()
  await page.getByRole('searchbox', { name: 'Search in Rows of sales' }).fill('lyon')
  await page.getByText('500 of 2,000 rows').waitFor()
  await firstRow().getByRole('gridcell', { name: '1999', exact: true }).waitFor()
  const menu = await openColumn('revenue')
  await menu.getByRole('combobox', { name: 'How revenue is filtered' }).click()
  await menu.getByRole('option', { name: 'is at least' }).click()
  await menu.getByLabel('Value').fill('24000')
  await menu.getByRole('button', { name: 'Show only these' }).click()
  const fit = sales.filter(({ city, revenue }) => city === 'Lyon' && revenue !== null && revenue >= 24_000)
  await page.getByText(`${fit.length} of 2,000 rows`).waitFor()
  await grid.getByRole('columnheader', { name: /^city/ }).waitFor()
  expect(await findBarriers(page, 'grid-table')).toEqual([])
  expect(complaints).toEqual([])
})
