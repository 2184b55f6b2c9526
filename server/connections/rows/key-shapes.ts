/**
 * Which keys the objects of a stream have, learned while they pass. Objects that repeat the same keys in the same order
 * walk the same nodes, so that a known key costs one comparison of bytes; what is unknown is looked at once.
 */

/** A key at one place of the rows, and what its numbers need. */
export type Field = {
  path: string[]
  /** Most significant digits of any number here, and whether one has a fraction or an exponent. */
  digits: number
  fraction: boolean
  inside: Place | null
  loose: KeyNode | null
}

/** Where objects stand: the rows themselves, or under one field of them. */
type Place = { path: string[]; root: KeyNode; fields: Map<string, Field>; folded: Set<string>; ambiguous: boolean }

/** The state after a sequence of keys. `raw` is the last key as sent, with its quotes. */
export type KeyNode = {
  raw: Uint8Array
  name: string
  parent: KeyNode | null
  place: Place
  field: Field
  next: KeyNode | null
  known: Map<string, KeyNode> | null
}

export type KeyFacts = {
  /** Every key of the rows, in the order of appearance. */
  keys: string[]
  /** Fields with numbers that neither a 64-bit integer nor a double holds as sent. */
  exactNumbers: string[][]
  /** Objects with keys that differ only in case, or with too many keys to tell. */
  ambiguousKeys: string[][]
}

const nodesAtMost = 20_000
const fieldsAtMost = 10_000
const none = new Uint8Array(0)

export type KeyShapes = ReturnType<typeof createKeyShapes>

export function createKeyShapes() {
  let nodes = 0
  let duplicates = false
  const places: Place[] = []
  const rows = newField([])
  rows.inside = newPlace([])
  const scalar = newField(['value'])

  function newField(path: string[]): Field {
    return { path, digits: 0, fraction: false, inside: null, loose: null }
  }

  function newNode(place: Place, field: Field, parent: KeyNode | null): KeyNode {
    return { raw: none, name: '', parent, place, field, next: null, known: null }
  }

  function newPlace(path: string[]): Place {
    const place = { path, fields: new Map(), folded: new Set(), ambiguous: false } as Omit<Place, 'root'> as Place
    place.root = newNode(place, newField(path), null)
    places.push(place)
    return place
  }

  function fieldOf(place: Place, name: string): Field {
    const found = place.fields.get(name)
    if (found !== undefined) return found
    if (place.fields.size >= fieldsAtMost) {
      place.ambiguous = true
      return place.root.field
    }
    const field = newField([...place.path, name])
    place.fields.set(name, field)
    const folded = name.toLowerCase()
    if (place.folded.has(folded)) place.ambiguous = true
    place.folded.add(folded)
    return field
  }

  function precedes(node: KeyNode, name: string): boolean {
    for (let at: KeyNode | null = node; at !== null && at.parent !== null; at = at.parent) {
      if (at.name === name) return true
    }
    return false
  }

  /** The node after `raw`, the key as sent; `null` when there are too many shapes to remember. */
  function follow(node: KeyNode, raw: Buffer): KeyNode | null {
    const key = raw.toString('latin1')
    const known = node.known?.get(key)
    if (known !== undefined) {
      node.next = known
      return known
    }
    if (nodes >= nodesAtMost) return null
    const name = JSON.parse(raw.toString()) as string
    if (precedes(node, name)) duplicates = true
    const made = newNode(node.place, fieldOf(node.place, name), node)
    made.raw = Uint8Array.from(raw)
    made.name = name
    node.known ??= new Map()
    node.known.set(key, made)
    node.next = made
    nodes += 1
    return made
  }

  /** The slow way once shapes are too many: `seen` holds the keys of this one object. */
  function followLoose(node: KeyNode, raw: Buffer, seen: Set<string>): KeyNode {
    const name = JSON.parse(raw.toString()) as string
    if (seen.has(name)) duplicates = true
    seen.add(name)
    const field = fieldOf(node.place, name)
    // A loose node never predicts: it has no `next` and no `known`.
    field.loose ??= newNode(node.place, field, node.place.root)
    return field.loose
  }

  function namesUpTo(node: KeyNode): Set<string> {
    const names = new Set<string>()
    for (let at: KeyNode | null = node; at !== null && at.parent !== null; at = at.parent) names.add(at.name)
    return names
  }

  /** The field of one key of the rows, for rows that arrive column by column. */
  function column(name: string): Field {
    return rows.inside === null ? rows : fieldOf(rows.inside, name)
  }

  /** Where an object directly under `field` starts. */
  function enter(field: Field): KeyNode {
    field.inside ??= newPlace(field.path)
    return field.inside.root
  }

  function facts(): KeyFacts {
    const fields = [scalar, ...places.flatMap((place) => [...place.fields.values(), place.root.field])]
    return {
      keys: [...(rows.inside?.fields.keys() ?? [])],
      exactNumbers: fields.filter(needsMoreThanDouble).map((field) => field.path),
      ambiguousKeys: places.filter((place) => place.ambiguous).map((place) => place.path),
    }
  }

  return {
    rows,
    scalar,
    follow,
    followLoose,
    namesUpTo,
    enter,
    column,
    facts,
    hasDuplicates: () => duplicates,
  }
}

function needsMoreThanDouble(field: Field): boolean {
  return field.digits > (field.fraction ? 15 : 18)
}

/**
 * Notes what a number as sent needs. One that fits a signed 64-bit integer counts 18 digits at most; one whose exponent
 * is beyond a double counts more than any type holds.
 */
export function noteNumber(field: Field, buffer: Buffer, start: number, stop: number): void {
  let digits = 0
  let zeros = 0
  let exponent = 0
  let hasPoint = false
  for (let at = start; at < stop; at += 1) {
    const byte = buffer[at] as number
    if (byte === 0x30) zeros += digits === 0 ? 0 : 1
    else if (byte > 0x30 && byte <= 0x39) {
      digits += zeros + 1
      zeros = 0
    } else if (byte === 0x2e) {
      if (!hasPoint) digits += zeros
      zeros = 0
      hasPoint = true
    } else if (byte !== 0x2d) {
      exponent = Number(buffer.toString('latin1', at + 1, stop))
      field.fraction = true
      break
    }
  }
  if (hasPoint) field.fraction = true
  else digits += zeros
  if (digits === 19 && !hasPoint && buffer.toString('latin1', stop - 19, stop) <= '9223372036854775807') digits = 18
  if (Math.abs(exponent) > 290) digits = 999
  if (digits > field.digits) field.digits = digits
}
