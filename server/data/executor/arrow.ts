import {
  DuckDBDateValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  type DuckDBDataChunk,
  type DuckDBType,
} from '@duckdb/node-api'
import {
  Bool,
  Data,
  DateDay,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
  type DataType,
} from 'apache-arrow'
import { jsonText } from './values.ts'
import type { Plan } from './plan.ts'

/** A DuckDB type that Arrow has too: its type, and a value as it stands in Arrow's buffers. */
type Mapping = {
  type: () => DataType
  array: 'int32' | 'int64' | 'float64' | null
  value: (value: unknown) => unknown
}

const same = (value: unknown): unknown => value
const int32: Mapping = { type: () => new Int32(), array: 'int32', value: same }

const mappings = new Map<DuckDBTypeId, Mapping>([
  [DuckDBTypeId.BOOLEAN, { type: () => new Bool(), array: null, value: same }],
  [DuckDBTypeId.TINYINT, int32],
  [DuckDBTypeId.SMALLINT, int32],
  [DuckDBTypeId.INTEGER, int32],
  [DuckDBTypeId.UTINYINT, int32],
  [DuckDBTypeId.USMALLINT, int32],
  [DuckDBTypeId.BIGINT, { type: () => new Int64(), array: 'int64', value: same }],
  [DuckDBTypeId.FLOAT, { type: () => new Float64(), array: 'float64', value: same }],
  [DuckDBTypeId.DOUBLE, { type: () => new Float64(), array: 'float64', value: same }],
  [
    DuckDBTypeId.DATE,
    {
      type: () => new DateDay(),
      array: 'int32',
      value: (value) => (value instanceof DuckDBDateValue ? value.days : 0),
    },
  ],
  [
    DuckDBTypeId.TIMESTAMP,
    {
      type: () => new TimestampMicrosecond('UTC'),
      array: 'int64',
      value: (value) => (value instanceof DuckDBTimestampValue ? value.micros : 0n),
    },
  ],
])

/** Everything else travels as text: a text as it is, other values as their JSON. */
const text: Mapping = { type: () => new Utf8(), array: null, value: (value) => String(value) }

const mappingOf = (type: DuckDBType): Mapping => mappings.get(type.typeId) ?? text

/** The select list whose columns `createArrowEncoder` expects. */
export function arrowColumns({ types }: Plan): string[] {
  return types.map((type, index) => {
    const isText = type.typeId === DuckDBTypeId.VARCHAR
    const json = `CASE WHEN c${index} IS NOT NULL THEN ${jsonText(type, `c${index}`)} END`
    return mappings.has(type.typeId) || isText ? `c${index}` : json
  })
}

/**
 * Writes chunks as one Arrow stream. Each batch is written as a stream of its own, of which only the middle is kept: the
 * schema goes out once at the start, the mark of the end once at the end.
 */
export function createArrowEncoder({ columns, types }: Plan) {
  const schema = new Schema(
    types.map((type, index) => new Field(columns[index]?.name ?? '', mappingOf(type).type(), true)),
  )
  const empty = tableToIPC(new Table(schema), 'stream')
  const endBytes = 8
  const schemaBytes = empty.subarray(0, empty.length - endBytes)

  function batch(chunk: DuckDBDataChunk, rowCount: number): Buffer {
    const children = types.map((type, index) => column(chunk, { type, index: index + 1, rowCount }))
    const data = makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children })
    const stream = tableToIPC(new Table([new RecordBatch(schema, data)]), 'stream')
    return Buffer.from(stream.subarray(schemaBytes.length, stream.length - endBytes))
  }

  return { start: Buffer.from(schemaBytes), batch, end: Buffer.from(empty.subarray(empty.length - endBytes)) }
}

function column(
  chunk: DuckDBDataChunk,
  { type, index, rowCount }: { type: DuckDBType; index: number; rowCount: number },
): Data {
  const mapping = mappingOf(type)
  const vector = chunk.getColumnVector(index)
  const values = Array.from({ length: rowCount }, (_, row) => {
    const value = vector.getItem(row)
    return value === null ? null : mapping.value(value)
  })
  const arrowType = mapping.type()
  if (mapping.array === null) {
    const [data] = vectorFromArray(values, arrowType).data
    if (data === undefined) throw new Error('an Arrow column without data')
    return data
  }
  const nullBitmap = new Uint8Array(Math.ceil(rowCount / 64) * 8)
  let nullCount = 0
  for (const [row, value] of values.entries()) {
    if (value === null) nullCount += 1
    else nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) | (1 << (row & 7))
  }
  return new Data(arrowType, 0, rowCount, nullCount, [undefined, typedArray(mapping.array, values), nullBitmap])
}

function typedArray(kind: 'int32' | 'int64' | 'float64', values: unknown[]): Int32Array | BigInt64Array | Float64Array {
  if (kind === 'int64') return BigInt64Array.from(values, (value) => (typeof value === 'bigint' ? value : 0n))
  const numbers = values.map((value) => (typeof value === 'number' ? value : 0))
  return kind === 'int32' ? Int32Array.from(numbers) : Float64Array.from(numbers)
}
