const quote = 0x22
const backslash = 0x5c

const comma = 0x2c

/** How much a JSON text may hold: levels, members of one object, and members and items in all. */
export type JsonBounds = { depth: number; members: number; values: number }

/**
 * Which bound a JSON text breaks, found before anything parses it: what walks a value afterwards does so by recursion,
 * and what checks it may say something of each member. One pass over the text, without recursion; the text need not be
 * valid.
 */
export function brokenBound(text: string, most: JsonBounds): keyof JsonBounds | undefined {
  // Every level takes a character to open, and so does every further member.
  if (text.length <= Math.min(most.depth, most.members, most.values)) return undefined
  let depth = 0
  let values = 1
  // The open levels: how many members an object has, and nothing of a list.
  const members: number[] = [Number.NaN]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = text.indexOf('"', at + 1)
      while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
      if (at < 0) return undefined
    } else if (code === comma) {
      values += 1
      const count = (members[depth] ?? Number.NaN) + 1
      members[depth] = count
      if (count > most.members) return 'members'
      if (values > most.values) return 'values'
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      values += 1
      members[depth] = code === 0x7b ? 1 : Number.NaN
      if (depth > most.depth) return 'depth'
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return undefined
}

/** Whether a JSON text nests lists and objects deeper than `most`. */
export function exceedsDepth(text: string, most: number): boolean {
  return brokenBound(text, { depth: most, members: Infinity, values: Infinity }) === 'depth'
}

/** A quote behind an odd number of backslashes belongs to the string. */
function isEscaped(text: string, at: number): boolean {
  let from = at
  while (text.charCodeAt(from - 1) === backslash) from -= 1
  return (at - from) % 2 === 1
}
