import { crc32, deflateRawSync } from 'node:zlib'

type Value = string | number | boolean | { date: number } | { formula: string; value: number }

/** A workbook as spreadsheet programs write it: texts shared, days as numbers with a style. */
export function workbook(sheets: Record<string, Value[][]>, replaced: { sheet?: string } = {}): Buffer {
  const shared: string[] = []
  const cell = (value: Value, at: string): string => {
    if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`
    if (typeof value === 'boolean') return `<c r="${at}" t="b"><v>${value ? 1 : 0}</v></c>`
    if (typeof value === 'string') {
      if (value === '') return ''
      return `<c r="${at}" t="s"><v>${shared.push(value) - 1}</v></c>`
    }
    if ('date' in value) return `<c r="${at}" s="1"><v>${value.date}</v></c>`
    return `<c r="${at}"><f>${value.formula}</f><v>${value.value}</v></c>`
  }
  const letter = (column: number): string => String.fromCodePoint(65 + column)
  const pages = Object.values(sheets).map((rows) => {
    const lines = rows.map((row, index) => {
      return `<row r="${index + 1}">${row.map((value, column) => cell(value, `${letter(column)}${index + 1}`)).join('')}</row>`
    })
    return `<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>`
  })
  const names = Object.keys(sheets)
  const parts: Record<string, string> = {
    'xl/workbook.xml': `<workbook xmlns:r="r"><sheets>${names
      .map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${names
      .map((_, index) => `<Relationship Id="rId${index + 1}" Target="worksheets/sheet${index + 1}.xml"/>`)
      .join('')}</Relationships>`,
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
  }
  for (const [index, page] of pages.entries()) parts[`xl/worksheets/sheet${index + 1}.xml`] = replaced.sheet ?? page
  parts['xl/sharedStrings.xml'] = `<sst>${shared.map((text) => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`
  return zipOf(parts)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** A zip file, byte by byte. */
export function zipOf(parts: Record<string, string>): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(parts)) {
    const packed = deflateRawSync(text)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(text), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(Buffer.byteLength(text), 18)
    fields.writeUInt16LE(Buffer.byteLength(name), 22)
    const file = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, Buffer.from(name), packed])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), fields, place, Buffer.from(name)]))
    files.push(file)
    offset += file.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, listed, Buffer.from('PK\u0005\u0006'), end])
}
