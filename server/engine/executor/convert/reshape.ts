import { createHmac } from 'node:crypto'
import { endOfText, parsePath } from '../../../rows/index.ts'
import { quoteName } from '../instance/sql-text.ts'
import type { Reshape } from '../socket/protocol.ts'
import type { CopySource } from './contract.ts'

/** Edits of one place of a row, and of the places inside it. */
type Edits = { action?: 'drop' | 'hash'; liftAs: string[]; fields: Map<string, Edits> }

const newEdits = (): Edits => ({ liftAs: [], fields: new Map() })

/** Edits the text of a row: its numbers keep every digit. */
// Over 70 lines: its parts share the place that each of them reads from.
export function createReshaper({ lifted, dropped, hashed, hashKey }: Reshape): (line: string) => string {
  const paths = newEdits()
  const whole = new Map<string, Edits>()
  const add = (path: string, edit: (edits: Edits) => void): void => {
    let at = paths
    for (const step of parsePath(path, 'columns').steps) {
      const next = at.fields.get(String(step)) ?? newEdits()
      at.fields.set(String(step), next)
      at = next
    }
    edit(at)
    // A key that is written like the path goes before what the path leads to.
    if (paths.fields.get(path) === at) return
    const own = whole.get(path) ?? newEdits()
    edit(own)
    whole.set(path, own)
  }
  for (const path of lifted) add(path, (edits) => edits.liftAs.push(path))
  for (const path of hashed) add(path, (edits) => (edits.action = 'hash'))
  for (const path of dropped) add(path, (edits) => (edits.action = 'drop'))

  let text = ''
  let at = 0
  let found = new Map<string, string>()

  function skipBlank(): void {
    while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1
  }

  /** The text of the value from here on, as it came. */
  function skipValue(): string {
    const start = at
    let depth = 0
    do {
      const char = text[at]
      if (char === '"') at = endOfText(text, at)
      else if (char === '{' || char === '[') depth += 1
      else if (char === '}' || char === ']') depth -= 1
      at += 1
      if (depth === 0 && (char === '"' || char === '}' || char === ']')) break
    } while (at < text.length && (depth > 0 || !isEnd(text[at])))
    return text.slice(start, at)
  }

  function value(edits: Edits | undefined): string | null {
    if (edits === undefined) return skipValue()
    const isOpen = edits.fields.size > 0 && edits.action === undefined
    const written =
      isOpen && text[at] === '{' ? members(edits) : isOpen && text[at] === '[' ? items(edits) : skipValue()
    const result = edits.action === 'hash' ? hashOf(written, hashKey) : written
    for (const name of edits.liftAs) if (!found.has(name)) found.set(name, result)
    return edits.action === 'drop' ? null : result
  }

  /** The object from here on without what is dropped. `isRow`: keys may be written like whole paths. */
  function members(edits: Edits, isRow = false): string {
    const kept: string[] = []
    const ownKeys = new Set<string>()
    for (at += 1, skipBlank(); text[at] !== '}'; skipBlank()) {
      if (text[at] === ',') {
        at += 1
        skipBlank()
      }
      const start = at
      at = endOfText(text, at) + 1
      const written = text.slice(start, at)
      const key = JSON.parse(written) as string
      skipBlank()
      at += 1
      skipBlank()
      const own = isRow ? whole.get(key) : undefined
      if (own !== undefined) ownKeys.add(key)
      const result = value(own ?? edits.fields.get(key))
      if (result !== null) kept.push(`${written}:${result}`)
    }
    at += 1
    if (!isRow) return `{${kept.join(',')}}`
    const more = [...found].flatMap(([name, lift]) => (ownKeys.has(name) ? [] : [`${JSON.stringify(name)}:${lift}`]))
    return `{${[...kept, ...more].join(',')}}`
  }

  function items(edits: Edits): string {
    const kept: string[] = []
    for (at += 1, skipBlank(); text[at] !== ']'; skipBlank()) {
      if (text[at] === ',') {
        at += 1
        skipBlank()
      }
      const result = value(edits.fields.get(String(kept.length)) ?? edits.fields.get('*'))
      kept.push(result ?? 'null')
    }
    at += 1
    return `[${kept.join(',')}]`
  }

  return (line) => {
    text = line
    at = 0
    found = new Map()
    skipBlank()
    return text[at] === '{' ? members(paths, true) : text
  }
}

function isEnd(char: string | undefined): boolean {
  return (
    char === undefined || char === ',' || char === '}' || char === ']' || char === ' ' || char === '\t' || char === '\r'
  )
}

/** Null stays null, so that it can still be counted. */
function hashOf(written: string, key: string): string {
  if (written === 'null') return written
  const text = written.startsWith('"') ? (JSON.parse(written) as string) : written
  return JSON.stringify(createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex'))
}

/** Rows of CSV without the columns that are dropped, and with hashes where those are wanted. */
export function reshapedCsv(source: CopySource, { dropped, hashed, hashKey }: Reshape): CopySource {
  const gone = new Set(dropped)
  const all = [...source.columns.entries()].filter(([, { sourceKey }]) => !gone.has(sourceKey))
  const isHashed = (sourceKey: string) => hashed.includes(sourceKey)
  const hashedPlaces = all.flatMap(([place, { sourceKey }]) => (isHashed(sourceKey) ? [place] : []))
  if (all.length === source.columns.length && hashedPlaces.length === 0) return source
  const columns = all.map(([, column]) => {
    if (!isHashed(column.sourceKey)) return column
    const { name, sourceKey } = column
    return { name, sourceKey, type: 'VARCHAR' }
  })
  const placeOf = (index: number): number => all[index]?.[0] ?? 0
  const select = (named: (index: number) => string, asText: ReadonlySet<number>): string => {
    const list = all.map(([place, { sourceKey }], index) => {
      const value = isHashed(sourceKey) ? hmacSql(`nullif(c${place}, '')`, hashKey) : `c${place}`
      return `${value} AS ${named(index)}`
    })
    const texts = new Set([...hashedPlaces, ...[...asText].map(placeOf)])
    return `SELECT ${list.join(', ')} FROM ${source.from(texts)}`
  }
  return {
    ...source,
    columns,
    plain: select((index) => quoteName(columns[index]?.name ?? ''), new Set()),
    from: (asText) => `(${select((index) => `c${index}`, asText)})`,
    raw: (index) => source.raw(placeOf(index)),
  }
}

const blockBytes = 64

/** HMAC-SHA256 (RFC 2104) as SQL, which has no function for it. */
function hmacSql(text: string, hashKey: string): string {
  const key = Buffer.alloc(blockBytes)
  Buffer.from(hashKey, 'hex').copy(key)
  const padded = (byte: number) => `unhex('${Buffer.from(key.map((each) => each ^ byte)).toString('hex')}')`
  return `sha256(${padded(0x5c)} || unhex(sha256(${padded(0x36)} || encode(${text}))))`
}
