import { setImmediate } from 'node:timers/promises'

/** Some rows of a result, and how many they are. */
export type RowSlice = { rows: unknown[]; count: number }

const quote = 0x22
const backslash = 0x5c
const openers = new Set([0x5b, 0x7b])
const closers = new Set([0x5d, 0x7d])
/** Others get their turn after this many bytes. */
const stretchBytes = 4_194_304

/**
 * The rows from `from` on, as many as fit. `json` is an array of rows as the engine wrote it; only what is given away is
 * parsed. Where not even one row fits there is none, and whoever asked says so.
 */
export async function sliceRows(
  json: Buffer,
  { from, maxRows, maxBytes }: { from: number; maxRows: number; maxBytes: number },
): Promise<RowSlice> {
  let depth = 0
  let row = 0
  let start = 1
  let end = 1
  let turnAt = stretchBytes
  for (let at = 0; at < json.length; at += 1) {
    if (at > turnAt) {
      turnAt = at + stretchBytes
      await setImmediate()
    }
    const byte = json[at] ?? 0
    if (byte === quote) at = endOfText(json, at)
    else if (openers.has(byte)) {
      depth += 1
      if (depth === 2 && row === from) start = at
    } else if (closers.has(byte)) {
      depth -= 1
      if (depth !== 1) continue
      row += 1
      if (row <= from) continue
      if (at + 1 - start > maxBytes) return parsed(json, { start, end, count: row - 1 - from })
      end = at + 1
      if (row - from >= maxRows) break
    }
  }
  return parsed(json, { start, end, count: Math.max(0, row - from) })
}

function endOfText(json: Buffer, at: number): number {
  let end = json.indexOf(quote, at + 1)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf(quote, end + 1)
  return end < 0 ? json.length : end
}

function isEscaped(json: Buffer, at: number): boolean {
  let before = at - 1
  while (json[before] === backslash) before -= 1
  return (at - before) % 2 === 0
}

function parsed(json: Buffer, { start, end, count }: { start: number; end: number; count: number }): RowSlice {
  if (count === 0) return { rows: [], count: 0 }
  return { rows: JSON.parse(`[${json.toString('utf8', start, end)}]`) as unknown[], count }
}
