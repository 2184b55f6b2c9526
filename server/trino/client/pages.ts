import type { TrinoError } from './failures.ts'
import type { TypeSignature } from './types.ts'

export type TrinoColumn = { name: string; type: string; typeSignature: TypeSignature }

/** One answer of the protocol. */
export type TrinoPage = {
  id: string
  nextUri?: string
  columns?: TrinoColumn[]
  data?: unknown[][]
  error?: TrinoError
  stats?: { physicalWrittenBytes?: number }
}

/** Where a text has so many digits in a row, a number may have more of them than a double. */
const manyDigits = /\d{16}/

/** An answer with its rows; integers that a double cannot hold are texts of their digits. */
export function readPage(text: string): TrinoPage {
  return (manyDigits.test(text) ? JSON.parse(text, exactly) : JSON.parse(text)) as TrinoPage
}

function exactly(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
  return /^-?\d+$/.test(source) ? source : value
}
