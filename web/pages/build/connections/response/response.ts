import type { Column, Row } from '../../shared/wire.ts'

export type Step = string | number

/** A path as the extractor reads it: `data.items[0]["a.b"]`. */
export function formatPath(steps: Step[]): string {
  return steps
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      if (step === '' || /[.[\]"'$\s]/.test(step)) return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}

const pattern = /\.?([^.[\]"']+)|\[(\d+)\]|\.?\[("(?:[^"\\]|\\.)*")\]|\.?\['([^']*)'\]/y

/** The value an extractor takes, as the server takes it; undefined where it finds nothing. */
export function valueAt(root: unknown, path: string): unknown {
  if (isObject(root) && Object.hasOwn(root, path.trim())) return readText(root[path.trim()])
  let value = root
  for (const step of stepsOf(path)) {
    value = readText(value)
    if (Array.isArray(value)) value = value[Number(step)] as unknown
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step]
    else return undefined
  }
  return readText(value)
}

function stepsOf(path: string): string[] {
  const text = path.trim().replace(/^\$(?=$|[.[])/, '')
  const steps: string[] = []
  for (let at = 0; at < text.length;) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) return [text]
    const [whole, key, index, quoted, apostrophed] = match
    steps.push(key ?? index ?? apostrophed ?? readQuoted(quoted ?? '""'))
    at += whole.length
  }
  return steps
}

function readQuoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** A text that holds JSON is what it holds. */
export function readText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/** The table that a value becomes: a list its elements, anything else one row. */
export function tableOf(value: unknown, most: number): { rows: Row[]; columns: Column[]; count: number } {
  const items = Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]
  const rows = items.slice(0, most).map((item): Row => (isObject(item) ? item : { value: item }))
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  const columns = [...names].map((name) => ({ name, type: typeOf(rows.map((row) => row[name])) }))
  return { rows, columns, count: items.length }
}

function typeOf(values: unknown[]): string {
  const kinds = new Set(values.filter((value) => value !== null && value !== undefined).map(kindOf))
  const [only = 'VARCHAR', ...more] = kinds
  return more.length === 0
    ? only
    : [...kinds].every((kind) => kind === 'BIGINT' || kind === 'DOUBLE')
      ? 'DOUBLE'
      : 'JSON'
}

function kindOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'BIGINT' : 'DOUBLE'
  if (typeof value === 'boolean') return 'BOOLEAN'
  if (Array.isArray(value)) return 'JSON[]'
  if (typeof value === 'object') return 'STRUCT'
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) return 'DATE'
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)?$/.test(value)) return 'TIMESTAMP'
  return 'VARCHAR'
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The document of an API, which describes requests and is none's answer. */
export function isDocument(data: unknown): boolean {
  if (typeof data === 'string') return /^\s*(openapi|swagger)\s*:/m.test(data.slice(0, 10_000))
  return isObject(data) && ['openapi', 'swagger'].some((name) => typeof data[name] === 'string')
}
