import { isDeepStrictEqual } from 'node:util'
import { isMap, isNode, isPair, isScalar, isSeq, parse, parseDocument, stringify, type Pair, type YAMLMap } from 'yaml'
import { isRecord } from './references.ts'

/** A value in the file, on the service, and as a file would write the latter. */
type Sides = { old: unknown; fresh: unknown; shown: unknown }
type Edit = { from: number; to: number; text: string }
type Fields = Record<string, unknown>

/**
 * A text in which only the values that differ are written anew: comments, order, spacing and spelling of everything else
 * stay as somebody wrote them.
 */
export function editYaml(text: string, sides: Sides): string {
  const raw = parse(text) as unknown
  const wanted = merged(raw, sides)
  if (isDeepStrictEqual(wanted, raw)) return text
  const edited = splice(text, sides)
  if (edited !== undefined && says(edited, wanted)) return edited
  return rewritten(text, raw, wanted)
}

/** Whether a text can be read, and as this. */
function says(text: string, wanted: unknown): boolean {
  const document = parseDocument(text)
  return document.errors.length === 0 && isDeepStrictEqual(document.toJS(), wanted)
}

function merged(raw: unknown, { old, fresh, shown }: Sides): unknown {
  if (isDeepStrictEqual(old, fresh)) return raw
  if (!isRecord(raw) || !isRecord(old) || !isRecord(fresh) || !isRecord(shown)) return shown
  return Object.fromEntries(
    [...new Set([...Object.keys(raw), ...Object.keys(shown)])].flatMap((key): Array<[string, unknown]> => {
      const value = merged(raw[key], sidesOf({ old, fresh, shown }, key))
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

function sidesOf({ old, fresh, shown }: Record<keyof Sides, Fields>, key: string): Sides {
  return { old: old[key], fresh: fresh[key], shown: shown[key] }
}

/** Undefined where the text is laid out in a way that only a new one can follow. */
function splice(text: string, sides: Sides): string | undefined {
  const { contents } = parseDocument(text)
  if (!isMap(contents)) return undefined
  const edits: Edit[] = []
  if (!editMap(contents, sides, { text, edits })) return undefined
  return edits
    .toSorted((left, right) => right.from - left.from)
    .reduce((written, { from, to, text: part }) => written.slice(0, from) + part + written.slice(to), text)
}

type Editing = { text: string; edits: Edit[] }

/** False where this map has to be written as a whole. */
function editMap(map: YAMLMap, { old, fresh, shown }: Sides, editing: Editing): boolean {
  if (!isRecord(old) || !isRecord(fresh) || !isRecord(shown)) return false
  const pairs = map.items.filter(isPair)
  const raw = map.toJSON() as Fields
  const keys = [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
  const added: Fields = {}
  for (const key of keys) {
    const sides = sidesOf({ old, fresh, shown }, key)
    if (isDeepStrictEqual(sides.old, sides.fresh) || isDeepStrictEqual(raw[key], sides.shown)) continue
    const pair = pairs.find((each) => isScalar(each.key) && String(each.key.value) === key)
    if (pair !== undefined && sides.shown === undefined) {
      if (map.flow === true || !removePair(pair, editing)) return false
    } else if (pair !== undefined) {
      if (!editValue(pair, sides, { ...editing, isFlow: map.flow === true })) return false
    } else if (sides.shown !== undefined) added[key] = sides.shown
  }
  return Object.keys(added).length === 0 || (map.flow !== true && addPairs(pairs, added, editing))
}

function editValue(pair: Pair, sides: Sides, editing: Editing & { isFlow: boolean }): boolean {
  const { key, value } = pair
  if (!isNode(key) || !key.range || !isNode(value) || !value.range) return false
  if (isMap(value) && editMapAlone(value, sides, editing)) return true
  const { text, edits, isFlow } = editing
  const to = endOf(value.range, text)
  const isInline = isFlow || !isCollection(sides.shown) || ((isMap(value) || isSeq(value)) && value.flow === true)
  const column = columnOf(text, key.range[0])
  const part = isInline ? ` ${inline(sides.shown)}` : `\n${indented(sides.shown, column + 2)}`
  edits.push({ from: text.indexOf(':', key.range[1]) + 1, to, text: part })
  return true
}

/** Takes its edits back where the map turns out to need a new text. */
function editMapAlone(map: YAMLMap, sides: Sides, { text, edits }: Editing): boolean {
  const own: Edit[] = []
  if (!editMap(map, sides, { text, edits: own })) return false
  edits.push(...own)
  return true
}

function removePair({ key, value }: Pair, { text, edits }: Editing): boolean {
  if (!isNode(key) || !key.range) return false
  const from = key.range[0] - columnOf(text, key.range[0])
  if (text.slice(from, key.range[0]).trim() !== '') return false
  const end = isNode(value) && value.range ? endOf(value.range, text) : key.range[1]
  edits.push({ from, to: lineEnd(text, end), text: '' })
  return true
}

function addPairs(pairs: Pair[], added: Fields, { text, edits }: Editing): boolean {
  const [first, last] = [pairs[0], pairs.at(-1)]
  if (!isNode(first?.key) || !first.key.range || !isNode(last?.value) || !last.value.range) return false
  const at = lineEnd(text, endOf(last.value.range, text))
  const before = at > 0 && text[at - 1] !== '\n' ? '\n' : ''
  edits.push({ from: at, to: at, text: `${before}${indented(added, columnOf(text, first.key.range[0]))}\n` })
  return true
}

/** Without the line breaks that a block has at its end. */
function endOf([from, to]: [number, number, number], text: string): number {
  return from + text.slice(from, to).replace(/[ \t\r\n]+$/, '').length
}

/** Behind the line break that ends the line. */
function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset)
  return at === -1 ? text.length : at + 1
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function isCollection(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isRecord(value) && Object.keys(value).length > 0
}

function inline(value: unknown): string {
  return stringify(value, {
    lineWidth: 0,
    collectionStyle: 'flow',
    defaultStringType: isFlat(value) ? 'PLAIN' : 'QUOTE_DOUBLE',
  }).replace(/\n+$/, '')
}

/** A text of one line is written as it is; several lines fit into one only with quotes. */
function isFlat(value: unknown): boolean {
  return typeof value !== 'string' || !value.includes('\n')
}

function indented(value: unknown, column: number): string {
  const lines = stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).replace(/\n+$/, '').split('\n')
  return lines.map((line) => (line === '' ? line : ' '.repeat(column) + line)).join('\n')
}

/** With the comments that are left; spacing becomes the usual one. */
function rewritten(text: string, raw: unknown, wanted: unknown): string {
  const document = parseDocument(text)
  if (!isRecord(raw) || !isRecord(wanted)) return stringify(wanted, { lineWidth: 0, aliasDuplicateObjects: false })
  for (const key of new Set([...Object.keys(raw), ...Object.keys(wanted)])) {
    if (isDeepStrictEqual(raw[key], wanted[key])) continue
    if (wanted[key] === undefined) document.delete(key)
    else document.set(key, document.createNode(wanted[key], { aliasDuplicateObjects: false }))
  }
  return document.toString({ lineWidth: 0 })
}
