import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalise, type NormaliseOptions } from '../../../server/rows/normalise.ts'
import { useRows } from './run.ts'
import { rounds } from '../../harness/rounds.ts'

const { run, refusal, folder } = useRows()

describe('other charsets and CSV', () => {
  test('a declared charset, and UTF-16 by its mark', async () => {
    const latin = Buffer.from('[{"a":"é"}]', 'latin1')
    expect((await run(latin, { contentType: 'application/json; charset=iso-8859-1' })).lines).toEqual(['{"a":"é"}'])
    const wide = Buffer.from('\uFEFF[{"a":"é"}]', 'utf16le')
    expect((await run(wide)).lines).toEqual(['{"a":"é"}'])
  })

  test('CSV comes out regular, with its rows counted', async () => {
    const body = 'id;name;ID\r\n1;"a;b ""c"" \nd";x\r\n\r\n2;say "hi", you\r\n3;"";'
    const { text, rowCount, columns } = await run(body, { contentType: 'text/csv; charset=utf-8', chunkBytes: 64 })
    expect(text).toBe('id,name,ID_1\n1,"a;b ""c"" \nd",x\n2,"say ""hi"", you",\n3,"",\n')
    expect({ rowCount, columns }).toEqual({ rowCount: 3, columns: ['id', 'name', 'ID_1'] })
  })

  test('a line for spreadsheets that names the delimiter is no row', async () => {
    const { text } = await run('\uFEFFsep=;\r\nid;price\r\n1;1,50\r\n', { contentType: 'text/csv' })
    expect(text).toBe('id,price\n1,"1,50"\n')
  })

  test('CSV by its looks, at any cut of the pieces', async () => {
    for (const size of [16, 17, 19, 23, 64]) {
      const rows = Array.from({ length: 50 }, (_, index) => `${index},"x ""${index}"", y"`)
      const body = `id,name\n${rows.join('\n')}`
      const { text, format } = await run(body, { contentType: 'text/plain', chunkBytes: size })
      expect({ text, format }).toEqual({ text: `${body}\n`, format: 'csv' })
    }
  })

  test('a row with more fields than the header is named', async () => {
    expect(await refusal('a,b\n1,2\n1,2,3\n', { contentType: 'text/csv' })).toMatchObject({
      message: expect.stringContaining('3 fields in line 3') as string,
    })
  })
})

describe('CSV that may stay where it is', () => {
  const options = { contentType: 'text/csv', bare: true, mayStay: true }

  test('stays where every row is regular, and says where its rows begin', async () => {
    for (const body of ['id,"a name"\n1,"x, ""y"""\n2,\n', 'id,name\r\n1,x\r\n2,y', 'id\n1\n']) {
      const found = await run(body, options)
      expect(found).toMatchObject({ isAsItCame: true, text: '' })
      expect(found.csv?.headerBytes).toBe(body.indexOf('\n') + 1)
    }
    const headless = await run('1,x\n2,y\n', { ...options, contentType: 'text/csv; header=absent' })
    expect(headless).toMatchObject({ isAsItCame: true, csv: { headerBytes: 0 }, rowCount: 2 })
  })

  test('is written where a mark, a hint, a blank line, a charset or a name over two lines stands before the rows', async () => {
    const utf16 = Buffer.from('\uFEFFid,name\n1,x\n', 'utf16le')
    for (const body of ['\uFEFFid,name\n1,x\n', 'sep=,\nid,name\n1,x\n', '\nid,name\n1,x\n', utf16]) {
      expect(await run(body, options)).toMatchObject({ isAsItCame: false, text: '1,x\n' })
    }
    expect(await run('id,"na\nme"\n1,x\n', options)).toMatchObject({ isAsItCame: false, text: '1,x\n' })
  })

  test('has the same rows as CSV that is written anew, whatever its lines are', async () => {
    const plain = fc.constantFrom('1,a', '2,"b, c"', '3,"say ""hi"""', ',', '4,""')
    const odd = fc.constantFrom('5', '', '6,say "hi"', '7,"two\nlines"')
    const line = fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: odd })
    const file = fc.record({
      lines: fc.array(line, { maxLength: 30 }),
      end: fc.constantFrom('\n', '\r\n'),
      isEnded: fc.boolean(),
      chunkBytes: fc.integer({ min: 8, max: 64 }),
    })
    await fc.assert(
      fc.asyncProperty(file, async ({ lines, end, isEnded, chunkBytes }) => {
        const body = ['id,name', ...lines].join(end) + (isEnded ? end : '')
        const written = await run(body, { ...options, mayStay: false, chunkBytes })
        const found = await run(body, { ...options, chunkBytes })
        const rest = body.slice(found.csv?.headerBytes ?? 0)
        const bareEnd = rest === '' || rest.endsWith(end) ? '' : end
        expect(found.isAsItCame === true ? `${rest}${bareEnd}` : found.text).toBe(written.text)
        expect(found.rowCount).toBe(written.rowCount)
      }),
      { numRuns: rounds(75, 300) },
    )
  })
})

describe('later pages', () => {
  const page = async (body: string, options: Partial<NormaliseOptions>) => {
    const input = join(folder(), 'page')
    await writeFile(input, body)
    return normalise(input, join(folder(), 'pages'), { maxDepth: 64, append: true, ...options })
  }
  const written = async () => {
    const text = await readFile(join(folder(), 'pages'), 'utf8')
    await rm(join(folder(), 'pages'))
    return text
  }

  test('go behind the earlier ones', async () => {
    const options = { path: 'items', contentType: 'application/json' }
    await page('{"items":[{"a":1}]}', options)
    expect(await page('{"items":[{"A":2,"A":3}]}', options)).toMatchObject({ rowCount: 1, learned: null })
    expect(await written()).toBe('{"a":1}\n{"A":3}\n')
  })

  test('of CSV have one header: columns go by name, new ones behind, and a page may leave the header out', async () => {
    const options = { contentType: 'text/csv' }
    const { columns } = await page('id,name\n1,Ada\n', options)
    expect(columns).toEqual(['id', 'name'])
    const again = { ...options, columns: columns ?? [] }
    expect(await page('name,id\n"Łukasz, M.",2\n', again)).toMatchObject({ rowCount: 1, columns: ['id', 'name'] })
    expect(await page('id,name\n', again)).toMatchObject({ rowCount: 0 })
    expect(await page('3,Grace\n4,Alan\n', again)).toMatchObject({ rowCount: 2 })
    const grown = await page('id,city,name\n5,Bern,Eve\n', again)
    expect(grown).toMatchObject({ rowCount: 1, columns: ['id', 'name', 'city'] })
    expect(await written()).toBe('id,name\n1,Ada\n2,"Łukasz, M."\n3,Grace\n4,Alan\n5,Eve,Bern\n')
    const all = await run('id,name\n1,Ada\n5,Eve,Bern\n', { ...options, columns: ['id', 'name', 'city'] })
    expect(all.text).toBe('id,name,city\n1,Ada,\n5,Eve,Bern\n')
  })
})
