import { plainInString } from './json-tokens.ts'

/** Rewrites one row so that no object repeats a key: the last value counts, at the place of the first. Bytes stay. */
export function dropDuplicateKeys(row: Buffer): Buffer {
  return valueAt(row, skipSpace(row, 0)).bytes
}

type Value = { bytes: Buffer; end: number }

function valueAt(row: Buffer, at: number): Value {
  const byte = row[at]
  if (byte === 0x7b) return objectAt(row, at)
  if (byte === 0x5b) return arrayAt(row, at)
  const end = byte === 0x22 ? textEnd(row, at) : wordEnd(row, at)
  return { bytes: row.subarray(at, end), end }
}

function objectAt(row: Buffer, start: number): Value {
  const members = new Map<string, [key: Buffer, value: Buffer]>()
  let at = skipSpace(row, start + 1)
  while (row[at] !== 0x7d) {
    const keyEnd = textEnd(row, at)
    const key = row.subarray(at, keyEnd)
    const value = valueAt(row, skipSpace(row, skipSpace(row, keyEnd) + 1))
    const name = JSON.parse(key.toString()) as string
    members.set(name, [members.get(name)?.[0] ?? key, value.bytes])
    at = skipSpace(row, value.end)
    if (row[at] === 0x2c) at = skipSpace(row, at + 1)
  }
  const parts = [...members.values()].flatMap(([key, value], index) => [index === 0 ? '{' : ',', key, ':', value])
  return { bytes: join(members.size === 0 ? ['{', '}'] : [...parts, '}']), end: at + 1 }
}

/** The elements of the list at `start`, each without repeated keys, and where the list ends. */
export function elementsAt(row: Buffer, start: number): { elements: Buffer[]; end: number } {
  const elements: Buffer[] = []
  let at = skipSpace(row, start + 1)
  while (row[at] !== 0x5d) {
    const { bytes, end } = valueAt(row, at)
    elements.push(bytes)
    at = skipSpace(row, end)
    if (row[at] === 0x2c) at = skipSpace(row, at + 1)
  }
  return { elements, end: at + 1 }
}

function arrayAt(row: Buffer, start: number): Value {
  const { elements, end } = elementsAt(row, start)
  const parts = elements.flatMap((element, index) => (index === 0 ? [element] : [',', element]))
  return { bytes: join(['[', ...parts, ']']), end }
}

function join(parts: (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

function skipSpace(row: Buffer, from: number): number {
  let at = from
  while (row[at] === 0x20 || row[at] === 0x09) at += 1
  return at
}

function textEnd(row: Buffer, start: number): number {
  let at = start + 1
  while (row[at] !== 0x22) at += plainInString[row[at] ?? 0] === 1 ? 1 : 2
  return at + 1
}

function wordEnd(row: Buffer, start: number): number {
  let at = start
  while (at < row.length && !' \t,]}'.includes(String.fromCodePoint(row[at] ?? 0x20))) at += 1
  return at
}
