import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../server/failure.ts'
import { unpackBody, unpackedPaths } from '../../../server/rows/index.ts'
import { workbook, zipOf } from '../../harness/xlsx.ts'
import { useRows } from './run.ts'

const { folder } = useRows()
let count = 0

type Given = { contentType?: string; extractor?: string; maxBytes?: number }

async function unpacked(bytes: Buffer | string, { contentType, extractor, maxBytes = 10_000_000 }: Given = {}) {
  count += 1
  const path = join(folder(), `${count}.in`)
  const workPath = join(folder(), `${count}.work`)
  await writeFile(path, bytes)
  try {
    const found = await unpackBody({ path, contentType, extractor }, { workPath, maxBytes, maxDepth: 64 })
    const text = await readFile(found.path, 'utf8')
    return {
      ...found,
      text,
      rows: () =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
    }
  } finally {
    await Promise.all([path, ...unpackedPaths(workPath)].map((each) => rm(each, { force: true })))
  }
}
const refusal = async (bytes: Buffer | string, given?: Given): Promise<string> =>
  unpacked(bytes, given).then(
    () => 'not refused',
    (error: unknown) => (error instanceof Failure ? error.message : `no Failure: ${String(error)}`),
  )

describe('packed answers', () => {
  const json = '[{"a":1}]'
  test.each([
    ['gzip', gzipSync(json)],
    ['zstd', zstdCompressSync(json)],
    ['both', gzipSync(zstdCompressSync(json))],
  ])('%s is unpacked by its first bytes', async (_, bytes) => {
    expect(await unpacked(bytes, { contentType: 'application/gzip' })).toMatchObject({
      text: json,
      contentType: undefined,
    })
    expect(await unpacked(bytes, { contentType: 'text/csv' })).toMatchObject({ text: json, contentType: 'text/csv' })
  })

  test('a bomb, a broken one and one within one within one are refused', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    expect(await refusal(bomb)).toContain('unpacks to more than 10000000 bytes')
    expect(await refusal(zstdCompressSync(Buffer.alloc(20_000_000)))).toContain('unpacks to more')
    expect(await refusal(gzipSync(json.repeat(100)).subarray(0, 30))).toContain('damaged')
    expect(await refusal(gzipSync(gzipSync(gzipSync(json))))).toContain('more than twice')
  })

  test('other bodies pass as they are', async () => {
    expect(await unpacked(json, { extractor: 'a' })).toMatchObject({ text: json, extractor: 'a', isParquet: false })
    expect(await unpacked('PAR1xxxx')).toMatchObject({ isParquet: true })
  })
})

describe('XML', () => {
  const feed = `<?xml version="1.0"?><feed xmlns="x"><title>T</title>
    <entry id="1"><n>5</n><tag>a</tag><tag>b</tag><zip>01234</zip><big>12345678901234567890</big></entry>
    <entry id="2"><n>6.50</n><text><![CDATA[x < y]]> &amp; z</text><empty/><deep><a at="1">t</a></deep></entry></feed>`

  test('what repeats first is a row, in the digits it came with', async () => {
    const { rows, text } = await unpacked(feed)
    expect(rows()).toEqual([
      { '@id': 1, n: 5, tag: ['a', 'b'], zip: '01234', big: Number('12345678901234567890') },
      { '@id': 2, n: 6.5, text: 'x < y & z', empty: null, deep: { a: { '@at': 1, '#text': 't' } } },
    ])
    expect(text).toContain('12345678901234567890')
    expect(text).toContain('6.50')
  })

  test('an extractor names the elements, with or without the root', async () => {
    for (const extractor of ['feed.entry.tag', 'entry.tag']) {
      expect((await unpacked(feed, { extractor })).rows()).toEqual([{ value: 'a' }, { value: 'b' }])
    }
    expect((await unpacked('<a><b>1</b></a>', { contentType: 'text/xml' })).rows()).toEqual([{ b: 1 }])
    expect(await refusal(feed, { extractor: 'item' })).toContain('feed.entry')
  })

  test('is read in the charset that it declares', async () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a><b>é</b><b>è</b></a>', 'latin1')
    expect((await unpacked(latin)).rows()).toEqual([{ value: 'é' }, { value: 'è' }])
  })

  test('entities, depth and broken documents are refused', async () => {
    const bomb = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><l><x>&b;</x><x>1</x></l>`
    expect(await refusal(bomb)).toContain('cannot be read')
    const external = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY f SYSTEM "file:///etc/passwd">]><l><x>&f;</x></l>`
    expect(await refusal(external)).toContain('cannot be read')
    expect(await refusal('<?xml version="1.0"?>' + '<a>'.repeat(100) + '</a>'.repeat(100))).toContain('deeper than 64')
    expect(await refusal('<?xml version="1.0"?><a><b></a>')).toContain('cannot be read')
  })
})

describe('Excel', () => {
  test('the first sheet, or the one that the extractor names; days, truth, shared texts and results of formulas', async () => {
    const file = workbook({
      Orders: [
        ['id', 'day', 'ok', 'name', '', 'id'],
        [1, { date: 46_023 }, true, 'é "x"', 'extra', 2],
        [],
        [{ formula: 'SUM(A1:A9)', value: 0.1 + 0.2 }, { date: 46_023.5 }, false, '=HYPERLINK("http://evil")'],
      ],
      Other: [['a'], [7]],
    })
    expect((await unpacked(file)).rows()).toEqual([
      { id: 1, day: '2026-01-01', ok: true, name: 'é "x"', column_5: 'extra', id_1: 2 },
      { id: 0.3, day: '2026-01-01T12:00:00', ok: false, name: '=HYPERLINK("http://evil")' },
    ])
    expect((await unpacked(file, { extractor: 'Other' })).rows()).toEqual([{ a: 7 }])
    expect(await refusal(file, { extractor: 'None' })).toContain('Orders, Other')
  })

  test('zip bombs, lies about sizes, zips that are none and damaged ones are refused', async () => {
    const big = workbook({ A: [['a'], ...Array.from({ length: 20_000 }, () => ['x'.repeat(100)])] })
    expect(await refusal(big, { maxBytes: 100_000 })).toContain('unpacks to more than 100000 bytes')
    expect(await refusal(zipOf({ 'a.txt': 'x' }))).toContain('no Excel workbook')
    expect(await refusal(big.subarray(0, big.length - 30))).toContain('cannot be opened')
    const lying = Buffer.from(workbook({ A: [['a'], [1]] }))
    // The size that the directory claims of its last part.
    const at = lying.lastIndexOf('PK\u0001\u0002')
    lying.writeUInt32LE(3, at + 24)
    expect(await refusal(lying)).toContain('damaged')
    expect(await refusal(Buffer.from('PK\u0003\u0004 nothing'))).toContain('cannot be opened')
    const entity = workbook(
      { A: [['a'], [1]] },
      {
        sheet:
          '<!DOCTYPE x [<!ENTITY a "b">]><worksheet><sheetData><row><c t="str"><v>&a;</v></c></row></sheetData></worksheet>',
      },
    )
    expect(await refusal(entity)).toContain('damaged')
  })
})
