import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimeValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  type DuckDBDataChunk,
  type DuckDBType,
} from '@duckdb/node-api'
import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  Uint64,
  Utf8,
  vectorFromArray,
  type Data,
  type DataType,
} from 'apache-arrow'
import { arrowTypes, asFileType } from './file-types.ts'
import { jsonText } from '../instance/values.ts'
import type { StatementPlan } from '../inspect/plan.ts'
import { fixedBytes, isValid, textsOf, validBits, vectorAt, type Vector } from './vectors.ts'

/**
 * A column or part of one: its Arrow type, and how values of DuckDB become its data. `copied` makes the same of a whole
 * column whose memory is laid out as Arrow's.
 */
type Mapping = {
  type: DataType
  data: (values: unknown[]) => Data
  copied?: (vector: Vector, count: number) => Data
}

type Buffers = Int32ArrayConstructor | BigInt64ArrayConstructor | BigUint64ArrayConstructor | Float64ArrayConstructor

/** Values of one width, as they stand in Arrow's buffer. */
function fixed(type: DataType, array: Buffers, value: (value: unknown) => unknown = (same) => same): Mapping {
  const zero = array === BigInt64Array || array === BigUint64Array ? 0n : 0
  return {
    type,
    data(values) {
      const buffer = (array as Float64ArrayConstructor).from(values as number[], (each) => {
        return (each === null ? zero : value(each)) as number
      })
      return makeData({ type, length: values.length, ...nullsOf(values), data: buffer } as never)
    },
  }
}

/** A mapping of a type that both sides store in the same way. */
function same(mapping: Mapping, array: Buffers): Mapping {
  const { type } = mapping
  return {
    ...mapping,
    copied(vector, count) {
      const { buffer } = fixedBytes(vector, count * array.BYTES_PER_ELEMENT)
      const data = new (array as Float64ArrayConstructor)(buffer)
      return makeData({ type, length: count, ...copiedNulls(vector, count), data } as never)
    },
  }
}

function copiedNulls(vector: Vector, count: number): { nullCount: number; nullBitmap?: Uint8Array } {
  const nullBitmap = validBits(vector, count)
  if (nullBitmap === null) return { nullCount: 0 }
  let nullCount = 0
  for (let row = 0; row < count; row += 1) if (!isValid(nullBitmap, row)) nullCount += 1
  return { nullCount, nullBitmap }
}

/** A byte each with the engine, a bit each in Arrow. */
function copiedFlags(vector: Vector, count: number): Data<Bool> {
  const bytes = fixedBytes(vector, count)
  const data = new Uint8Array(Math.ceil(count / 64) * 8)
  for (const [row, byte] of bytes.entries()) {
    if (byte !== 0) data[row >> 3] = (data[row >> 3] ?? 0) | (1 << (row & 7))
  }
  return makeData({ type: new Bool(), length: count, ...copiedNulls(vector, count), data })
}

function copiedTexts(vector: Vector, count: number): Data<Utf8> {
  const { bytes: data, offsets: valueOffsets } = textsOf(vector, count)
  return makeData({ type: new Utf8(), length: count, ...copiedNulls(vector, count), valueOffsets, data })
}

/** A mapping by the library's own builder, where that does as well. */
function built(type: DataType, value: (value: unknown) => unknown = (same) => same): Mapping {
  return {
    type,
    data(values) {
      const [data] = vectorFromArray(
        values.map((each) => (each === null ? null : value(each))),
        type,
      ).data
      if (data === undefined) throw new Error('an Arrow column without data')
      return data
    },
  }
}

function nullsOf(values: unknown[]): { nullCount: number; nullBitmap: Uint8Array } {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 64) * 8)
  let nullCount = 0
  for (const [row, value] of values.entries()) {
    if (value === null) nullCount += 1
    else nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) | (1 << (row & 7))
  }
  return { nullCount, nullBitmap }
}

const micros = (value: unknown): bigint =>
  value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimeValue
    ? value.micros
    : 0n
const text = { ...built(new Utf8(), String), copied: copiedTexts }
const int32 = fixed(new Int32(), Int32Array)
const int64 = fixed(new Int64(), BigInt64Array)
const float64 = fixed(new Float64(), Float64Array)
const day = fixed(new DateDay(), Int32Array, (value) => (value instanceof DuckDBDateValue ? value.days : 0))
const timestamp = same(fixed(new TimestampMicrosecond('UTC'), BigInt64Array, micros), BigInt64Array)
const nanos = fixed(new TimestampNanosecond('UTC'), BigInt64Array, (value) =>
  value instanceof DuckDBTimestampNanosecondsValue ? value.nanos : 0n,
)

const scalars = new Map<DuckDBTypeId, Mapping>([
  [DuckDBTypeId.BOOLEAN, { ...built(new Bool()), copied: copiedFlags }],
  [DuckDBTypeId.TINYINT, int32],
  [DuckDBTypeId.SMALLINT, int32],
  [DuckDBTypeId.INTEGER, same(int32, Int32Array)],
  [DuckDBTypeId.UTINYINT, int32],
  [DuckDBTypeId.USMALLINT, int32],
  [DuckDBTypeId.BIGINT, same(int64, BigInt64Array)],
  [DuckDBTypeId.UINTEGER, same(int64, BigInt64Array)],
  [DuckDBTypeId.UBIGINT, same(fixed(new Uint64(), BigUint64Array), BigUint64Array)],
  [DuckDBTypeId.HUGEINT, decimal(38, 0)],
  [DuckDBTypeId.UHUGEINT, decimal(38, 0)],
  [DuckDBTypeId.FLOAT, float64],
  [DuckDBTypeId.DOUBLE, same(float64, Float64Array)],
  [DuckDBTypeId.DATE, same(day, Int32Array)],
  [DuckDBTypeId.TIME, same(fixed(new TimeMicrosecond(), BigInt64Array, micros), BigInt64Array)],
  [DuckDBTypeId.TIMESTAMP, timestamp],
  [DuckDBTypeId.TIMESTAMP_TZ, timestamp],
  [DuckDBTypeId.TIMESTAMP_NS, same(nanos, BigInt64Array)],
  [DuckDBTypeId.BLOB, built(new Binary(), (value) => (value instanceof DuckDBBlobValue ? value.bytes : value))],
  [DuckDBTypeId.VARCHAR, text],
])

/** 128 bits in the order of Arrow, the sign by two's complement. */
function decimal(precision: number, scale: number): Mapping {
  const type = new Decimal(scale, precision, 128)
  return {
    type,
    data(values) {
      const data = new Uint32Array(values.length * 4)
      for (const [row, value] of values.entries()) {
        if (value === null) continue
        const whole = BigInt.asUintN(128, value instanceof DuckDBDecimalValue ? value.value : (value as bigint))
        for (let word = 0; word < 4; word += 1)
          data[row * 4 + word] = Number((whole >> BigInt(word * 32)) & 0xffff_ffffn)
      }
      return makeData({ type, length: values.length, ...nullsOf(values), data })
    },
  }
}

function list(item: Mapping): Mapping {
  const type = new List(new Field('item', item.type, true))
  return {
    type,
    data(values) {
      const valueOffsets = new Int32Array(values.length + 1)
      const items: unknown[] = []
      for (const [row, value] of values.entries()) {
        if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
          for (const each of value.items) items.push(each)
        }
        valueOffsets[row + 1] = items.length
      }
      const child = item.data(items)
      return makeData({ type, length: values.length, ...nullsOf(values), valueOffsets, child })
    },
  }
}

function struct(names: readonly string[], entries: Mapping[]): Mapping {
  const type = new Struct(entries.map((entry, index) => new Field(names[index] ?? '', entry.type, true)))
  return {
    type,
    data(values) {
      const children = entries.map(({ data }, index) =>
        data(
          values.map((value) =>
            value instanceof DuckDBStructValue ? (value.entries[names[index] ?? ''] ?? null) : null,
          ),
        ),
      )
      return makeData({ type, length: values.length, ...nullsOf(values), children })
    },
  }
}

/** Null for a type that Arrow has not, or that has one inside: it travels as text. */
function mappingOf(type: DuckDBType): Mapping | null {
  if (type instanceof DuckDBDecimalType) return decimal(type.width, type.scale)
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) {
    const item = mappingOf(type.valueType)
    return item === null ? null : list(item)
  }
  if (type instanceof DuckDBStructType) {
    const entries = type.entryTypes.map(mappingOf)
    const isNamed = new Set(type.entryNames).size === entries.length && !type.entryNames.includes('')
    return isNamed && entries.every((entry) => entry !== null) ? struct(type.entryNames, entries) : null
  }
  return scalars.get(type.typeId) ?? (arrowTypes.get(type.typeId) === 'VARCHAR' ? text : null)
}

/** The select list whose columns `createArrowEncoder` expects. */
export function arrowColumns({ types }: StatementPlan): string[] {
  return types.map((type, index) => {
    const x = `c${index}`
    if (mappingOf(type) !== null) return asFileType(type, x, arrowTypes)
    return `CASE WHEN ${x} IS NOT NULL THEN ${jsonText(type, x)} END`
  })
}

/**
 * Writes chunks as one Arrow stream. Each batch is written as a stream of its own, of which only the middle is kept: the
 * schema goes out once at the start, the mark of the end once at the end.
 */
export function createArrowEncoder({ columns, types }: StatementPlan) {
  const mappings = types.map((type) => mappingOf(type) ?? text)
  const schema = new Schema(mappings.map(({ type }, index) => new Field(columns[index]?.name ?? '', type, true)))
  const empty = tableToIPC(new Table(schema), 'stream')
  const endBytes = 8
  const schemaBytes = empty.subarray(0, empty.length - endBytes)

  function batch(chunk: DuckDBDataChunk, rowCount: number): Buffer {
    const children = mappings.map(({ data, copied }, index) => {
      if (copied !== undefined) return copied(vectorAt(chunk, index + 1), rowCount)
      const vector = chunk.getColumnVector(index + 1)
      return data(Array.from({ length: rowCount }, (_, row) => vector.getItem(row)))
    })
    const data = makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children })
    const stream = tableToIPC(new Table([new RecordBatch(schema, data)]), 'stream')
    return Buffer.from(stream.subarray(schemaBytes.length, stream.length - endBytes))
  }

  return { start: Buffer.from(schemaBytes), batch, end: Buffer.from(empty.subarray(empty.length - endBytes)) }
}
