import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Failure } from '../../../server/failure.ts'
import { unpackBody, unpackedPaths } from '../../../server/rows/index.ts'
import { zipOf } from '../../harness/xlsx.ts'
import { useRows } from './run.ts'

/** Workbooks that nobody's spreadsheet program wrote. Small as files, they must stay small when they are read. */
const { folder } = useRows()
const mostBytes = 20_000_000
let count = 0

type Parts = { sheet?: string; shared?: string; styles?: string; workbook?: string; rels?: string; more?: object }

function hostile({ sheet = '', shared, styles, workbook, rels, more = {} }: Parts): Buffer {
  return zipOf({
    'xl/workbook.xml': workbook ?? '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      rels ?? '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    ...(shared !== undefined && { 'xl/sharedStrings.xml': `<sst>${shared}</sst>` }),
    ...(styles !== undefined && { 'xl/styles.xml': `<styleSheet>${styles}</styleSheet>` }),
    ...more,
  })
}

/** The rows, or why there are none; and how much was written to the disk. */
async function read(bytes: Buffer, extractor?: string) {
  count += 1
  const path = join(folder(), `${count}.in`)
  const workPath = join(folder(), `${count}.work`)
  await writeFile(path, bytes)
  const options = { workPath, maxBytes: mostBytes, maxDepth: 64 }
  const sizes = async () =>
    Promise.all(unpackedPaths(workPath).map(async (each) => (await stat(each).catch(() => undefined))?.size ?? 0))
  try {
    const found = await unpackBody({ path, contentType: undefined, extractor }, options)
    return { said: '', text: await readFile(found.path, 'utf8'), written: Math.max(...(await sizes())) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { said: error.message, text: '', written: Math.max(...(await sizes())) }
  } finally {
    await Promise.all([path, ...unpackedPaths(workPath)].map((each) => rm(each, { force: true })))
  }
}

const row = (cells: string): string => `<row>${cells}</row>`
const shared = '<c t="s"><v>0</v></c>'
const megabyte = `<si><t>${'x'.repeat(1_000_000)}</t></si>`
const head = row('<c t="str"><v>a</v></c>')

test.each<[string, Parts, string]>([
  [
    'one text in every row',
    { sheet: head + row(shared).repeat(100_000), shared: megabyte },
    'unpacks to more than 20000000 bytes',
  ],
  ['one text in every cell of a row', { sheet: head + row(shared.repeat(16_000)), shared: megabyte }, 'row of more'],
  ['one text as the name of every column', { sheet: row(shared.repeat(16_000)), shared: megabyte }, 'row of more'],
  ['names that are all alike and long', { sheet: row(shared.repeat(50)), shared: megabyte }, 'names of columns'],
  ['more cells than a row has', { sheet: head + row('<c r="A2"><v>1</v></c>'.repeat(20_000)) }, 'row of more than'],
  ['a column beyond all', { sheet: head + row('<c r="ZZZZZZZZ2"><v>1</v></c>') }, 'more than 16384 columns'],
  ['a name of a column without end', { sheet: row(`<c r="${'Z'.repeat(10_000)}1"><v>1</v></c>`) }, 'more than 16384'],
  ['a million styles', { sheet: head, styles: `<cellXfs>${'<xf/>'.repeat(1_000_000)}</cellXfs>` }, 'more than 65536'],
  ['sheets without end', { workbook: `<workbook><sheets>${'<sheet/>'.repeat(20_000)}</sheets></workbook>` }, 'sheets'],
  ['an entity', { sheet: `<!DOCTYPE x [<!ENTITY a "b">]>${row('<c t="str"><v>&a;</v></c>')}` }, 'damaged'],
  ['an entity in shared texts', { sheet: head, shared: '<si><t>&xxe;</t></si>' }, 'damaged'],
  [
    'a sheet outside of the file',
    { rels: '<Relationships><Relationship Id="rId1" Target="../../../../etc/passwd"/></Relationships>' },
    'lacks its part',
  ],
  [
    'a sheet at an address',
    {
      rels: '<Relationships><Relationship Id="rId1" TargetMode="External" Target="http://127.0.0.1/x.xml"/></Relationships>',
    },
    'lacks its part',
  ],
])('%s is refused, before it fills memory or disk', { timeout: 60_000 }, async (_name, parts, expected) => {
  const file = hostile(parts)
  expect(file.length).toBeLessThan(1_000_000)
  const before = process.memoryUsage().rss
  const startedMs = performance.now()
  const { said, written } = await read(file)
  expect(said).toContain(expected)
  expect(written).toBeLessThanOrEqual(mostBytes)
  expect(process.memoryUsage().rss - before).toBeLessThan(600_000_000)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})

test('formulas, links to other files and text that spreadsheets would run come as they are stored, and nothing is fetched', async () => {
  const cells = [
    '<c t="str"><f>WEBSERVICE("http://127.0.0.1:1/")</f><v>cached</v></c>',
    '<c><f>[1]Sheet1!A1</f><v>7</v></c>',
    '<c t="inlineStr"><is><t>=cmd|\'/c calc\'!A0</t></is></c>',
    '<c t="e"><v>#REF!</v></c>',
    '<c t="s"><v>99999999</v></c>',
    '<c t="s"><v>-1</v></c>',
    '<c t="s"><v>constructor</v></c>',
  ]
  const names = row(['f', 'g', 'h', 'i', '__proto__'].map((name) => `<c t="str"><v>${name}</v></c>`).join(''))
  const externals = {
    'xl/externalLinks/externalLink1.xml': '<externalLink/>',
    'xl/externalLinks/_rels/externalLink1.xml.rels':
      '<Relationships><Relationship Id="rId1" Target="http://127.0.0.1:1/book.xlsx" TargetMode="External"/></Relationships>',
    'xl/vbaProject.bin': 'Sub Auto_Open()',
  }
  const { text, said } = await read(hostile({ sheet: names + row(cells.join('')), more: externals }))
  expect(said).toBe('')
  expect(text.trim()).toBe('{"f":"cached","g":7,"h":"=cmd|\'/c calc\'!A0","i":"#REF!"}')
})

test('names that come often get a number each, quickly', async () => {
  const many = 16_000
  const sheet = row('<c t="str"><v>n</v></c>'.repeat(many)) + row('<c><v>1</v></c>'.repeat(many))
  const { text } = await read(hostile({ sheet }))
  const names = Object.keys(JSON.parse(text) as object)
  expect(new Set(names).size).toBe(many)
  expect(names.slice(0, 3)).toEqual(['n', 'n_1', 'n_2'])
})
