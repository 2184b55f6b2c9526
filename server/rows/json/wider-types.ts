/** A type as text, taken apart: of what is nested, its members. */
type Parsed = { kind: 'scalar'; type: string } | { kind: 'list'; item: Parsed } | { kind: 'struct'; fields: Field[] }
type Field = { name: string; type: Parsed }

const bigintDigits = 19
const maxDigits = 38
const shortDigits = 18

/**
 * The narrowest type that holds the values of both, for rows that join others which are stored already. Numbers stay
 * numbers and times stay times; what has nothing in common becomes text, and JSON where one of them is nested.
 */
export function widerType(left: string, right: string): string {
  return left === right ? left : written(wider(parsed(left), parsed(right)))
}

function wider(left: Parsed, right: Parsed): Parsed {
  if (left.kind === 'list' && right.kind === 'list') return { kind: 'list', item: wider(left.item, right.item) }
  if (left.kind === 'struct' && right.kind === 'struct') return widerStruct(left.fields, right.fields)
  if (left.kind !== 'scalar' || right.kind !== 'scalar') return scalar('JSON')
  return scalar(widerScalar(left.type, right.type))
}

/** SQL does not tell names apart by case. */
function widerStruct(left: Field[], right: Field[]): Parsed {
  const others = new Map(right.map((field) => [field.name.toLowerCase(), field]))
  const joined = left.map((field) => {
    const other = others.get(field.name.toLowerCase())
    others.delete(field.name.toLowerCase())
    return other === undefined ? field : { name: field.name, type: wider(field.type, other.type) }
  })
  return { kind: 'struct', fields: [...joined, ...others.values()] }
}

function widerScalar(left: string, right: string): string {
  if (left === right) return left
  if (left === 'JSON' || right === 'JSON') return 'JSON'
  const [ours, theirs] = [digitsOf(left), digitsOf(right)]
  if (ours !== null && theirs !== null) {
    const scale = Math.max(ours.scale, theirs.scale)
    const width = Math.max(ours.whole, theirs.whole) + scale
    return width > maxDigits ? 'VARCHAR' : `DECIMAL(${width > shortDigits ? maxDigits : shortDigits},${scale})`
  }
  const isNumber = (type: string) => type === 'DOUBLE' || digitsOf(type) !== null
  if (isNumber(left) && isNumber(right)) return 'DOUBLE'
  const times = ['DATE', 'TIMESTAMP', 'TIMESTAMPTZ']
  const [from, to] = [times.indexOf(left), times.indexOf(right)]
  return from >= 0 && to >= 0 ? (times[Math.max(from, to)] ?? 'VARCHAR') : 'VARCHAR'
}

/** Digits before and behind the point; null for what is no exact number. */
function digitsOf(type: string): { whole: number; scale: number } | null {
  if (type === 'BIGINT') return { whole: bigintDigits, scale: 0 }
  const [, width, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  return width === undefined ? null : { whole: Number(width) - Number(scale), scale: Number(scale) }
}

export function isNestedType(type: string): boolean {
  return parsed(type).kind !== 'scalar'
}

const scalar = (type: string): Parsed => ({ kind: 'scalar', type })

function written(type: Parsed): string {
  if (type.kind === 'scalar') return type.type
  if (type.kind === 'list') return `${written(type.item)}[]`
  return `STRUCT(${type.fields.map((field) => `${quoted(field.name)} ${written(field.type)}`).join(', ')})`
}

/** Reads the spelling in which columns are recorded. */
function parsed(text: string): Parsed {
  if (text.endsWith('[]')) return { kind: 'list', item: parsed(text.slice(0, -2)) }
  if (!text.startsWith('STRUCT(') || !text.endsWith(')')) return scalar(text)
  const fields = membersOf(text.slice('STRUCT('.length, -1)).map((member): Field => {
    const [, quoted, plain, type = 'VARCHAR'] = /^(?:"((?:[^"]|"")*)"|(\S+)) (.*)$/s.exec(member) ?? []
    return { name: quoted?.replaceAll('""', '"') ?? plain ?? '', type: parsed(type) }
  })
  return { kind: 'struct', fields }
}

/** Cuts a list of members at its commas, but not inside quotes or brackets. */
function membersOf(list: string): string[] {
  const members: string[] = []
  let [depth, quoted, from] = [0, false, 0]
  for (let at = 0; at < list.length; at += 1) {
    const letter = list[at]
    if (letter === '"') quoted = !quoted
    else if (!quoted && letter === '(') depth += 1
    else if (!quoted && letter === ')') depth -= 1
    else if (!quoted && letter === ',' && depth === 0) {
      members.push(list.slice(from, at).trim())
      from = at + 1
    }
  }
  members.push(list.slice(from).trim())
  return members
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
