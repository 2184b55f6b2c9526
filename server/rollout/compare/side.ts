import { createHash, hash, type Hash } from 'node:crypto'
import type { Column } from '../../engine/index.ts'

/** A result as far as memory allows: its rows as text, else their digests in order, else one sum of all digests. */
export type Side = {
  columns: Column[]
  rowCount: number
  bytes: number
  truncated: boolean
  /** Digest of every row in order: two sides that agree in it are equal. */
  digest: string
  rows: SideRows
}

export type SideRows =
  | { held: 'texts'; texts: string[] }
  | { held: 'digests'; digests: string[] }
  | { held: 'sum'; sum: bigint }

export type SideLimits = {
  /** Rows beyond this many bytes are kept as digests. */
  maxTextBytes: number
  /** Digests beyond this many are kept as one sum. */
  maxDigests: number
}

export type SideCollector = {
  /** Whole lines, a JSON object each. */
  add(lines: Buffer): void
  end(truncated: boolean): Side
}

/** Takes a result in as it streams by. What it holds has a limit, however large the result is. */
export function collectSide(columns: Column[], limits: SideLimits): SideCollector {
  const all: Hash = createHash('sha256')
  let rows: SideRows = { held: 'texts', texts: [] }
  let rowCount = 0
  let bytes = 0

  function hold(texts: string[]): void {
    if (rows.held === 'texts') for (const text of texts) rows.texts.push(text)
    else if (rows.held === 'digests') for (const text of texts) rows.digests.push(digestOf(text))
    else for (const text of texts) rows.sum = addDigest(rows.sum, digestOf(text))
    if (rows.held === 'texts' && bytes > limits.maxTextBytes) rows = digested(rows)
    if (rows.held === 'digests' && rows.digests.length > limits.maxDigests) rows = summed(rows)
  }

  return {
    add(lines) {
      all.update(lines)
      bytes += lines.length
      const texts = lines.toString('utf8').split('\n')
      if (texts.at(-1) === '') texts.pop()
      rowCount += texts.length
      hold(texts)
    },
    end: (truncated) => ({ columns, rowCount, bytes, truncated, digest: all.digest('base64'), rows }),
  }
}

/** In the form that holds less, for a comparison with a side that has no more. */
export function digested(rows: SideRows): SideRows {
  return rows.held === 'texts' ? { held: 'digests', digests: rows.texts.map(digestOf) } : rows
}

export function summed(rows: SideRows): { held: 'sum'; sum: bigint } {
  const least = digested(rows)
  if (least.held === 'sum') return least
  return { held: 'sum', sum: least.held === 'digests' ? least.digests.reduce(addDigest, 0n) : 0n }
}

/** 128 bits are enough: no two rows of a result meet by chance. */
function digestOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32)
}

const modulus = 1n << 128n

/** A sum is the same in whatever order the rows came, and counts each as often as it is there. */
function addDigest(sum: bigint, digest: string): bigint {
  return (sum + BigInt(`0x${digest}`)) % modulus
}
