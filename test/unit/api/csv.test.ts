import { expect, test } from 'vitest'
import { csvCell, csvCellOfJson, csvRecord, spreadsheetCell } from '../../../api/csv.ts'

test.each([
  [null, ''],
  ['', '""'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', '=1+1'],
])('%j is the cell %s', (text, cell) => expect(csvCell(text)).toBe(cell))

test.each([
  ['null', ''],
  ['"null"', 'null'],
  ['""', '""'],
  ['12345678901234567890.10', '12345678901234567890.10'],
  ['{"a":1}', '"{""a"":1}"'],
])('the JSON %s is the cell %s', (json, cell) => expect(csvCellOfJson(json)).toBe(cell))

test.each([
  ['=SUM(A1)', "'=SUM(A1)"],
  ['@x,y', `"'@x,y"`],
  ['\t1', "'\t1"],
  ['-12.5', '-12.5'],
  ['-1e-7', '-1e-7'],
  ['-2+3', "'-2+3"],
  [null, ''],
])('a spreadsheet runs nothing of %j', (text, cell) => expect(spreadsheetCell(text)).toBe(cell))

test('a record ends its line', () => expect(csvRecord(['a', '', '""'])).toBe('a,,""\r\n'))
