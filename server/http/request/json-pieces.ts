import { yieldToEventLoop } from '../../flow/index.ts'

/** A text below this takes a moment, whatever is in it. */
const longChars = 262_144
/** Parts are parsed together until they are so long. */
const batchChars = 65_536
/** A name that is longer is looked at with its value. */
const nameChars = 1_024

export type PieceReading = {
  /** The value of a JSON text. Throws for what is none. */
  parse: (text: string) => unknown
  /** Throw for too much. A text with limits is parsed in pieces however short it is. */
  limits?: {
    /** Asked of each text that is parsed at once: an item of a list, or a member that is no list. */
    part: (text: string) => void
    /** Asked of each list and object: how many parts it has so far, and how many members and items in these. */
    whole: (found: { parts: number; values: number }) => void
  }
}

/**
 * A JSON text, its members and the items of their lists parsed in batches, with others let in between: the whole of a
 * text of megabytes would hold up everybody.
 */
export async function parseInPieces(text: string, reading: PieceReading, isMember = false): Promise<unknown> {
  const { parse, limits } = reading
  const inside = insideOf(text)
  const isShort = limits === undefined && text.length <= longChars
  if (inside === undefined || isShort || (isMember && inside.isObject)) {
    limits?.part(text)
    return parse(text)
  }
  const { isObject, from, to } = inside
  const values: unknown[] = []
  const members: Array<[string, unknown]> = []
  let [parts, start, batchStart] = [0, from, from]
  const parseBatch = (end: number): void => {
    const batch = text.slice(batchStart, end)
    const isAll = batchStart === from && end === to
    // Before and behind a comma there is something.
    if (!isAll && batch.trim() === '') parse('')
    const parsed = parse(isObject ? `{${batch}}` : `[${batch}]`) as object
    if (isObject) members.push(...Object.entries(parsed))
    else for (const value of parsed as unknown[]) values.push(value)
    batchStart = end + 1
  }
  const look = (found: number): void => limits?.whole({ parts, values: found })
  for await (const { end, found } of endsOfParts(text, { from, to, look })) {
    parts += 1
    look(found)
    const part = text.slice(start, end)
    const list = isObject ? listOf(part, reading) : undefined
    if (list !== undefined) {
      if (batchStart < start) parseBatch(start - 1)
      members.push([list.name, await parseInPieces(list.text, reading, true)])
      batchStart = end + 1
    } else {
      limits?.part(part)
      if (end - batchStart >= batchChars) parseBatch(end)
    }
    start = end + 1
    await yieldToEventLoop()
  }
  if (batchStart <= to) parseBatch(to)
  return isObject ? Object.fromEntries(members) : values
}

type Inside = { isObject: boolean; from: number; to: number }

/** Brackets of a list or an object, and what is between; undefined where a text begins or ends with anything else. */
function insideOf(text: string): Inside | undefined {
  let [from, to] = [0, text.length - 1]
  while (from < longChars && isSpace(text.charCodeAt(from))) from += 1
  while (text.length - to < longChars && isSpace(text.charCodeAt(to))) to -= 1
  const brackets = from < to ? `${text.charAt(from)}${text.charAt(to)}` : ''
  if (brackets !== '[]' && brackets !== '{}') return undefined
  return { isObject: brackets === '{}', from: from + 1, to }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** A member whose value is a list that is to be parsed in pieces. */
function listOf(member: string, { parse, limits }: PieceReading): { name: string; text: string } | undefined {
  if (limits === undefined && member.length <= longChars) return undefined
  const head = /^\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\[)/.exec(member.slice(0, nameChars))?.[0]
  if (head === undefined) return undefined
  // With another value, the name of a member is judged as it would be in the whole.
  const [name = ''] = Object.keys(parse(`{${head}0}`) as object)
  return { name, text: member.slice(head.length) }
}

type Span = { from: number; to: number; look: (found: number) => void }

/**
 * Where the parts of a list or object end: at its commas, and at its end; and how many members and items were found
 * until there, which `look` is told on the way too.
 */
async function* endsOfParts(text: string, { from, to, look }: Span): AsyncGenerator<{ end: number; found: number }> {
  let [depth, found, looked] = [0, 1, from]
  let inText = false
  for (let at = from; at < to; at += 1) {
    if (at - looked > batchChars) {
      looked = at
      look(found)
      await yieldToEventLoop()
    }
    const code = text.charCodeAt(at)
    if (inText) {
      if (code === 0x5c) at += 1
      else if (code === 0x22) inText = false
    } else if (code === 0x22) inText = true
    else if (code === 0x5b || code === 0x7b) {
      depth += 1
      found += 1
    } else if (code === 0x5d || code === 0x7d) depth -= 1
    else if (code === 0x2c) {
      if (depth === 0) yield { end: at, found }
      found += 1
    }
  }
  yield { end: to, found }
}
