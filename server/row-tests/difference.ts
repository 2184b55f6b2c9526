import { yieldToEventLoop } from '../flow/index.ts'
import { withoutLastZeros } from '../rows/index.ts'

type Row = Record<string, unknown>

type RowDifference = { missing: Row[]; unexpected: Row[]; isReordered: boolean }

/**
 * The rows that were expected and did not come, and the other way round. Each expected row takes the first equal one that
 * is left; rows are found by what they have in the columns that are named, so that a thousand meet a thousand at once.
 */
export async function differenceOf(
  expected: Row[],
  came: Row[],
  { ordered, exact }: { ordered: boolean; exact: boolean },
): Promise<RowDifference> {
  const columns = await keysOfValues(came)
  const taken = new Set<number>()
  const places: number[] = []
  const missing: Row[] = []
  const found = new Map<string, Map<string, number[]>>()
  for (const [index, values] of (await keysOfValues(expected)).entries()) {
    const names = [...values.keys()].sort()
    const named = JSON.stringify(names)
    const among = found.get(named) ?? (await rowsByValues(columns, names, exact))
    found.set(named, among)
    const left = among.get(rowKey(values, names)) ?? []
    while (taken.has(left[0] ?? -1)) left.shift()
    const at = left.shift()
    if (at === undefined) missing.push(expected[index] ?? {})
    else {
      taken.add(at)
      places.push(at)
    }
  }
  const isReordered = ordered && places.some((at, index) => at < (places[index - 1] ?? -1))
  return { missing, unexpected: came.filter((_, at) => !taken.has(at)), isReordered }
}

type RowKeys = ReadonlyMap<string, string>

async function keysOfValues(rows: Row[]): Promise<RowKeys[]> {
  const keys: RowKeys[] = []
  for (const row of rows) {
    keys.push(new Map(Object.entries(row).map(([name, value]) => [name, keyOf(value)])))
    await yieldToEventLoop()
  }
  return keys
}

/** The places of rows that have all these columns, and no others where rows are exact. */
async function rowsByValues(rows: RowKeys[], names: string[], exact: boolean): Promise<Map<string, number[]>> {
  const places = new Map<string, number[]>()
  for (const [at, values] of rows.entries()) {
    if (names.every((name) => values.has(name)) && (!exact || values.size === names.length)) {
      const key = rowKey(values, names)
      const alike = places.get(key)
      if (alike === undefined) places.set(key, [at])
      else alike.push(at)
    }
    await yieldToEventLoop()
  }
  return places
}

function rowKey(values: RowKeys, names: string[]): string {
  return JSON.stringify(names.map((name) => values.get(name)))
}

/** Equal for values that are the same: digits are digits, however an answer writes them; midnight is a day. */
function keyOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map((each) => JSON.stringify(keyOf(each))).join(',')}]`
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([name, each]) => JSON.stringify([name, keyOf(each)]))
    return `{${members.sort().join(',')}}`
  }
  if (typeof value === 'boolean') return `=${value}`
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? `=${Number(text) + 0}` : `=${plainTime(text)}`
}

function plainTime(text: string): string {
  const spelled = text.replace(' ', 'T').replace(/Z$/, '')
  const [, whole = spelled, fraction] = /^([^.]*)\.(\d*)$/.exec(spelled) ?? []
  const digits = withoutLastZeros(fraction ?? '')
  return (digits === '' ? whole : `${whole}.${digits}`).replace(/T00:00(:00)?$/, '')
}
