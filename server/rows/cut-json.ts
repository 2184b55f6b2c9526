import { endOfText, parseExact } from './json/json-path.ts'

/** Where a text can end, and what must follow there to close what is open. */
type End = { at: number; closers: string }

/**
 * As much of a JSON text that was cut off as is whole: the elements of its outermost list, else what stands before the
 * last comma. Undefined where nothing is.
 */
export function parseCut(text: string): unknown {
  const end = lastWhole(text)
  if (end === null) return undefined
  try {
    return parseExact(text.slice(0, end.at) + end.closers)
  } catch {
    return undefined
  }
}

function lastWhole(text: string): End | null {
  const open: string[] = []
  let rows: End | null = null
  let any: number | null = null
  /** The end of the outermost list, which may have millions of elements. */
  let afterList = ''
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') {
      at = endOfText(text, at)
    } else if (char === '[' || char === '{') {
      const isOutermostList = char === '[' && !open.includes(']')
      open.push(char === '[' ? ']' : '}')
      if (isOutermostList) afterList = open.toReversed().join('')
    } else if (char === ']' || char === '}') {
      open.pop()
    } else if (char === ',' && open.length === afterList.length && open.at(-1) === ']') {
      rows = { at, closers: afterList }
    } else if (char === ',' && rows === null) {
      any = at
    }
  }
  return rows ?? (any === null ? null : { at: any, closers: openAt(text, any) })
}

/** The open brackets at a place of a text. Looked for once: at each comma it would take as long as the text is deep. */
function openAt(text: string, end: number): string {
  const open: string[] = []
  for (let at = 0; at < end; at += 1) {
    const char = text[at]
    if (char === '"') at = endOfText(text, at)
    else if (char === '[' || char === '{') open.push(char === '[' ? ']' : '}')
    else if (char === ']' || char === '}') open.pop()
  }
  return open.toReversed().join('')
}
