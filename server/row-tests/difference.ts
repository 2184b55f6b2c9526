import { createHash } from 'node:crypto'
import { yieldToEventLoop } from '../flow/index.ts'
import { withoutLastZeros } from '../rows/index.ts'

type Row = Record<string, unknown>

type RowDifference = { missing: Row[]; unexpected: Row[]; isReordered: boolean }

/**
 * The rows that were expected and did not come, and the other way round. Each expected row takes the first equal one that
 * is left. A thousand meet a thousand, so values are compared by their keys, in pieces.
 */
export async function differenceOf(
  expected: Row[],
  came: Row[],
  { ordered, exact }: { ordered: boolean; exact: boolean },
): Promise<RowDifference> {
  const left = new Map((await keysOfRows(came)).entries())
  const places: number[] = []
  const missing: Row[] = []
  for (const [index, wanted] of (await keysOfRows(expected)).entries()) {
    const at = placeOf(left, [...wanted], exact)
    await yieldToEventLoop()
    if (at === undefined) missing.push(expected[index] ?? {})
    else {
      left.delete(at)
      places.push(at)
    }
  }
  const isReordered = ordered && places.some((at, index) => at < (places[index - 1] ?? -1))
  return { missing, unexpected: came.filter((_, at) => left.has(at)), isReordered }
}

type RowKeys = ReadonlyMap<string, string>

function placeOf(rows: ReadonlyMap<number, RowKeys>, wanted: Array<[string, string]>, exact: boolean) {
  for (const [at, values] of rows) {
    if (exact && values.size !== wanted.length) continue
    if (wanted.every(([name, key]) => values.get(name) === key)) return at
  }
  return undefined
}

async function keysOfRows(rows: Row[]): Promise<RowKeys[]> {
  const keys: RowKeys[] = []
  for (const row of rows) {
    const values = new Map<string, string>()
    for (const [name, value] of Object.entries(row)) values.set(name, shortKey(await keyOf(value)))
    keys.push(values)
    await yieldToEventLoop()
  }
  return keys
}

const longChars = 100
const manyParts = 1_000

function shortKey(key: string): string {
  return key.length > longChars ? createHash('sha256').update(key).digest('base64') : key
}

/**
 * Equal for values that are the same: digits are digits, however an answer writes them; midnight is a day. A key holds
 * those of its parts as they are, so that it grows with the value and not with its depth.
 */
async function keyOf(value: unknown): Promise<string> {
  if (typeof value !== 'object' || value === null) return plainKey(value)
  const names = Array.isArray(value) ? null : Object.keys(value).sort()
  const parts: Iterable<unknown> = names?.map((name) => (value as Row)[name]) ?? (value as unknown[])
  let key = names === null ? '[' : '{'
  let count = 0
  for (const part of parts) {
    if (names !== null) key += `${JSON.stringify(names[count])}:`
    key += typeof part === 'object' && part !== null ? shortKey(await keyOf(part)) : plainKey(part)
    key += ','
    count += 1
    if (count % manyParts !== 0) continue
    key = shortKey(key)
    await yieldToEventLoop()
  }
  await yieldToEventLoop()
  return key
}

function plainKey(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? `=${Number(text) + 0}` : JSON.stringify(plainTime(text))
}

function plainTime(text: string): string {
  const spelled = text.replace(' ', 'T').replace(/Z$/, '')
  const [, whole = spelled, fraction] = /^([^.]*)\.(\d*)$/.exec(spelled) ?? []
  const digits = withoutLastZeros(fraction ?? '')
  return (digits === '' ? whole : `${whole}.${digits}`).replace(/T00:00(:00)?$/, '')
}
