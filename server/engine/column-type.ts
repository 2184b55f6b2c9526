/**
 * The types of columns as every engine's are told: those of SQL by DuckDB's names (`BIGINT`, `DECIMAL(18,2)`,
 * `TIMESTAMP WITH TIME ZONE`, `VARCHAR[]`, `STRUCT(a BIGINT)`, `MAP(VARCHAR, BIGINT)`).
 */
export type ColumnType =
  | { kind: 'scalar'; name: string }
  | { kind: 'decimal'; precision: number; scale: number }
  | { kind: 'list'; item: ColumnType }
  | { kind: 'struct'; fields: Array<{ name: string; type: ColumnType }> }
  | { kind: 'map'; key: ColumnType; value: ColumnType }

export const scalarType = (name: string): ColumnType => ({ kind: 'scalar', name })

export function columnTypeName(type: ColumnType): string {
  if (type.kind === 'scalar') return type.name
  if (type.kind === 'decimal') return `DECIMAL(${type.precision},${type.scale})`
  if (type.kind === 'list') return `${columnTypeName(type.item)}[]`
  if (type.kind === 'map') return `MAP(${columnTypeName(type.key)}, ${columnTypeName(type.value)})`
  return `STRUCT(${type.fields.map((field) => `${fieldName(field.name)} ${columnTypeName(field.type)}`).join(', ')})`
}

const plainName = /^[A-Za-z_]\w*$/

function fieldName(name: string): string {
  return plainName.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}

const marks = /\s*("(?:[^"]|"")*"|[A-Za-z_0-9]+|\[\]|[(),[\]])/y

/** Reads a name that `columnTypeName` or DuckDB wrote. What it does not understand is a scalar of that name. */
export function parseColumnType(text: string): ColumnType {
  const words = wordsOf(text)
  let at = 0
  const next = (): string => words[(at += 1) - 1] ?? ''
  const peek = (): string => words[at] ?? ''
  const expect = (mark: string): void => {
    if (next() !== mark) throw new Error(`${text} is no type of a column`)
  }

  function list(item: ColumnType): ColumnType {
    let type = item
    for (;;) {
      if (peek() === '[]') at += 1
      // An array of a fixed length is a list.
      else if (peek() === '[') at += 3
      else return type
      type = { kind: 'list', item: type }
    }
  }

  function scalar(first: string): ColumnType {
    const parts = [first]
    while (/^[A-Z]+$/i.test(peek())) parts.push(next())
    return scalarType(parts.join(' ').toUpperCase())
  }

  function one(): ColumnType {
    const word = next()
    const name = word.toUpperCase()
    if (peek() !== '(') return scalar(word)
    at += 1
    if (name === 'DECIMAL' || name === 'NUMERIC') {
      const precision = Number(next())
      const scale = peek() === ',' ? Number((next(), next())) : 0
      expect(')')
      return { kind: 'decimal', precision, scale }
    }
    if (name === 'MAP') {
      const key = list(one())
      expect(',')
      const value = list(one())
      expect(')')
      return { kind: 'map', key, value }
    }
    if (name === 'STRUCT') return fields()
    // The parameters of what else has some, such as an ENUM's values, tell nothing here.
    while (peek() !== ')' && peek() !== '') at += 1
    expect(')')
    return scalarType(name)
  }

  function fields(): ColumnType {
    const found: Array<{ name: string; type: ColumnType }> = []
    while (peek() !== ')' && peek() !== '') {
      if (found.length > 0) expect(',')
      const name = next()
      found.push({ name: name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name, type: list(one()) })
    }
    expect(')')
    return { kind: 'struct', fields: found }
  }

  return list(one())
}

function wordsOf(text: string): string[] {
  const words: string[] = []
  marks.lastIndex = 0
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) words.push(found[1] ?? '')
  return words
}
