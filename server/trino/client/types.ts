import { columnTypeName, scalarType, type ColumnType } from '../../engine/index.ts'

/** A type as Trino describes it beside its rows. */
export type TypeSignature = {
  rawType: string
  arguments: Array<{ kind: string; value: unknown }>
}

/** Trino's names of what has a name of its own here. What is not among them has none and comes as text. */
const scalars: Record<string, string> = {
  boolean: 'BOOLEAN',
  tinyint: 'TINYINT',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'FLOAT',
  double: 'DOUBLE',
  varchar: 'VARCHAR',
  char: 'VARCHAR',
  varbinary: 'BLOB',
  uuid: 'UUID',
  json: 'JSON',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  'timestamp with time zone': 'TIMESTAMP WITH TIME ZONE',
  'interval day to second': 'INTERVAL',
  'interval year to month': 'INTERVAL',
  unknown: 'VARCHAR',
}

function scalarOf(rawType: string): ColumnType {
  return scalarType(scalars[rawType] ?? 'VARCHAR')
}

/** Type of a result column. */
export function typeOfSignature({ rawType, arguments: given }: TypeSignature): ColumnType {
  const inner = given.map(({ value }) => value)
  if (rawType === 'decimal') return { kind: 'decimal', precision: Number(inner[0]), scale: Number(inner[1] ?? 0) }
  if (rawType === 'array') return { kind: 'list', item: typeOfSignature(inner[0] as TypeSignature) }
  if (rawType === 'map') {
    return {
      kind: 'map',
      key: typeOfSignature(inner[0] as TypeSignature),
      value: typeOfSignature(inner[1] as TypeSignature),
    }
  }
  if (rawType !== 'row') return scalarOf(rawType)
  const fields = inner.map((each) => {
    const { fieldName, typeSignature } = each as { fieldName?: { name: string } | null; typeSignature: TypeSignature }
    return { name: fieldName?.name ?? '', type: typeOfSignature(typeSignature) }
  })
  return { kind: 'struct', fields }
}

const marks = /\s*("(?:[^"]|"")*"|[A-Za-z_][\w$ ]*?(?=\s*[(),]|\s+"|$)|\d+|[(),])/y

/** Type as `DESCRIBE OUTPUT` and `DESCRIBE INPUT` write it: `row(x bigint, y array(varchar(3)))`. */
export function parseTrinoType(text: string): ColumnType {
  const words: string[] = []
  marks.lastIndex = 0
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) words.push((found[1] ?? '').trim())
  let at = 0
  const peek = (): string => words[at] ?? ''
  const next = (): string => words[(at += 1) - 1] ?? ''

  /** Between parentheses, one by one. */
  function inside<Item>(read: () => Item): Item[] {
    const items: Item[] = []
    at += 1
    while (peek() !== ')' && peek() !== '') {
      items.push(read())
      if (peek() === ',') at += 1
    }
    at += 1
    return items
  }

  function one(name = next()): ColumnType {
    if (peek() !== '(') return scalarOf(name)
    if (name === 'decimal') {
      const [precision = '38', scale = '0'] = inside(next)
      return { kind: 'decimal', precision: Number(precision), scale: Number(scale) }
    }
    if (name === 'array') return { kind: 'list', item: inside(() => one())[0] ?? scalarOf('varchar') }
    if (name === 'map') {
      const [key = scalarOf('varchar'), value = scalarOf('varchar')] = inside(() => one())
      return { kind: 'map', key, value }
    }
    if (name === 'row') return { kind: 'struct', fields: inside(field) }
    inside(next)
    // `timestamp(6) with time zone`: the words behind the precision are part of the name.
    return peek().startsWith('with') || peek().startsWith('without') ? scalarOf(`${name} ${next()}`) : scalarOf(name)
  }

  /** `x bigint`, `"a b" array(bigint)`: a name and its type are one word where nothing stands between them. */
  function field(): { name: string; type: ColumnType } {
    const first = next()
    if (first.startsWith('"')) return { name: first.slice(1, -1).replaceAll('""', '"'), type: one() }
    const gap = first.indexOf(' ')
    if (gap === -1) return { name: '', type: one(first) }
    return { name: first.slice(0, gap), type: one(first.slice(gap + 1)) }
  }

  return one()
}

/** Iceberg's type for each of ours. Null where it has none. */
const sameTypes: Record<string, string | null> = {
  BOOLEAN: 'boolean',
  INTEGER: 'integer',
  BIGINT: 'bigint',
  FLOAT: 'real',
  DOUBLE: 'double',
  VARCHAR: 'varchar',
  BLOB: 'varbinary',
  DATE: 'date',
  TIME: 'time(6)',
  TIMESTAMP: 'timestamp(6)',
  TIMESTAMPTZ: 'timestamp(6) with time zone',
  'TIMESTAMP WITH TIME ZONE': 'timestamp(6) with time zone',
}

/** Types that Iceberg has none for, and those that hold the same values: nothing is lost, and text where there is none. */
const castTo: Record<string, string> = {
  TINYINT: 'INTEGER',
  SMALLINT: 'INTEGER',
  UTINYINT: 'INTEGER',
  USMALLINT: 'INTEGER',
  UINTEGER: 'BIGINT',
  UBIGINT: 'DECIMAL(20,0)',
  HUGEINT: 'DECIMAL(38,0)',
  TIMESTAMP_S: 'TIMESTAMP',
  TIMESTAMP_MS: 'TIMESTAMP',
}

/** The same type with what Iceberg has none for replaced; equal to it where rows can be read as they are stored. */
export function portableType(type: ColumnType): ColumnType {
  if (type.kind === 'list') return { kind: 'list', item: portableType(type.item) }
  if (type.kind === 'map') return { kind: 'map', key: portableType(type.key), value: portableType(type.value) }
  if (type.kind === 'struct') {
    return { kind: 'struct', fields: type.fields.map(({ name, type: inner }) => ({ name, type: portableType(inner) })) }
  }
  if (type.kind === 'decimal' || sameTypes[type.name] !== undefined) return type
  const target = castTo[type.name] ?? 'VARCHAR'
  const decimal = /^DECIMAL\((\d+),0\)$/.exec(target)?.[1]
  return decimal === undefined ? scalarType(target) : { kind: 'decimal', precision: Number(decimal), scale: 0 }
}

/** A portable type as Trino writes it. */
export function trinoType(type: ColumnType): string {
  if (type.kind === 'decimal') return `decimal(${type.precision},${type.scale})`
  if (type.kind === 'list') return `array(${trinoType(type.item)})`
  if (type.kind === 'map') return `map(${trinoType(type.key)}, ${trinoType(type.value)})`
  if (type.kind === 'struct') {
    return `row(${type.fields.map((field) => `${quoteIdentifier(field.name)} ${trinoType(field.type)}`).join(', ')})`
  }
  const name = sameTypes[type.name]
  if (name === undefined || name === null) throw new Error(`${columnTypeName(type)} is no type of Iceberg`)
  return name
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
