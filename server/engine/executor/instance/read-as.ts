import { isNestedType } from '../../../rows/index.ts'

/** SQL that reads `x`, which is stored as one type, as a value of a wider one. */
export function readAs(x: string, stored: string, type: string): string {
  if (stored === type) return x
  if (type === 'JSON') return `to_json(${x})`
  if (type !== 'VARCHAR') return `CAST(${x} AS ${type})`
  if (isNestedType(stored) || stored === 'JSON') return `CAST(to_json(${x}) AS VARCHAR)`
  // As answers write them, which is how nearly every API does.
  if (stored === 'TIMESTAMP') return `strftime(${x}, '%Y-%m-%dT%H:%M:%SZ')`
  return `CAST(${x} AS VARCHAR)`
}
