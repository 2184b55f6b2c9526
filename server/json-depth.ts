const quote = 0x22
const backslash = 0x5c

/**
 * Whether a JSON text nests lists and objects deeper than `most`, found before anything parses it: what walks a value
 * afterwards does so by recursion. One pass over the text, without recursion; the text need not be valid.
 */
export function exceedsDepth(text: string, most: number): boolean {
  // Every level takes a character to open.
  if (text.length <= most) return false
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = text.indexOf('"', at + 1)
      while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
      if (at < 0) return false
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > most) return true
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return false
}

/** A quote behind an odd number of backslashes belongs to the string. */
function isEscaped(text: string, at: number): boolean {
  let from = at
  while (text.charCodeAt(from - 1) === backslash) from -= 1
  return (at - from) % 2 === 1
}
