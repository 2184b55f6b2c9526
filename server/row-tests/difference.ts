type Row = Record<string, unknown>

type RowDifference = { missing: Row[]; unexpected: Row[]; isReordered: boolean }

/** The rows that were expected and did not come, and the other way round. */
export function differenceOf(
  expected: Row[],
  came: Row[],
  { ordered, exact }: { ordered: boolean; exact: boolean },
): RowDifference {
  const left = came.map((row, at) => ({ row, at }))
  const places: number[] = []
  const missing = expected.filter((row) => {
    const found = left.findIndex((each) => isSame(row, each.row, exact))
    if (found === -1) return true
    places.push(left[found]?.at ?? 0)
    left.splice(found, 1)
    return false
  })
  const isReordered = ordered && places.some((at, index) => at < (places[index - 1] ?? -1))
  return { missing, unexpected: left.map(({ row }) => row), isReordered }
}

function isSame(expected: Row, came: Row, exact: boolean): boolean {
  if (exact && Object.keys(came).some((name) => !Object.hasOwn(expected, name))) return false
  return Object.entries(expected).every(([name, value]) => Object.hasOwn(came, name) && isEqual(value, came[name]))
}

/** Digits are digits, however many an answer may write as a number; midnight is a day. */
function isEqual(expected: unknown, came: unknown): boolean {
  if (expected === came) return true
  if (expected === null || came === null) return false
  if (typeof expected === 'object' || typeof came === 'object') return isSameInside(expected, came)
  const [left, right] = [wordOf(expected), wordOf(came)]
  if (typeof expected !== 'boolean' && typeof came !== 'boolean' && isNumber(left) && isNumber(right)) {
    return left === right || Number(left) === Number(right)
  }
  return left === right || plainTime(left) === plainTime(right)
}

function isSameInside(expected: unknown, came: unknown): boolean {
  if (typeof expected !== 'object' || typeof came !== 'object' || expected === null || came === null) return false
  const [left, right] = [Object.entries(expected), Object.entries(came)]
  if (Array.isArray(expected) !== Array.isArray(came) || left.length !== right.length) return false
  return left.every(([key, value]) => isEqual(value, (came as Row)[key]))
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isNumber(text: string): boolean {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)
}

function plainTime(text: string): string {
  return text
    .replace(' ', 'T')
    .replace(/(\.\d*?)0+(?=Z?$)/, '$1')
    .replace(/\.?Z?$/, '')
    .replace(/T00:00(:00)?$/, '')
}
