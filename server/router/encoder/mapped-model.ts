import { closeSync, openSync, readSync, fstatSync } from 'node:fs'
import { basename } from 'node:path'

/** A field of a protocol buffer: where it begins with its tag, and where its content stands. */
type Field = { number: number; head: number; start: number; end: number }

// Numbers of the fields that matter here, by the messages of ONNX they belong to.
const modelGraph = 7
const graphInitializer = 5
const tensor = { rawData: 9, externalData: 13, dataLocation: 14 }
/** Less than some pages is not worth a mapping. */
const minMappedBytes = 65_536

/**
 * An ONNX file without its large weights, which it names as places in that same file. Given this, the runtime maps them
 * instead of copying them, and processes that open the same model share their pages.
 */
export function mappedModel(path: string): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const graph = (field: Field): Buffer => rebuilt(file, field, (inner) => initializer(file, path, inner))
    return rebuilt(file, { number: 0, head: 0, start: 0, end: fstatSync(file).size }, (field) =>
      field.number === modelGraph ? delimited(modelGraph, graph(field)) : null,
    )
  } finally {
    closeSync(file)
  }
}

/** The content of a field with what `change` makes of its parts; what it makes nothing of stays as it is. */
function rebuilt(file: number, { start, end }: Field, change: (field: Field) => Buffer | null): Buffer {
  const parts: Buffer[] = []
  for (const field of fieldsIn(file, start, end)) parts.push(change(field) ?? bytesAt(file, field.head, field.end))
  return Buffer.concat(parts)
}

function initializer(file: number, path: string, field: Field): Buffer | null {
  if (field.number !== graphInitializer || field.end - field.start < minMappedBytes) return null
  const raw = [...fieldsIn(file, field.start, field.end)].find(({ number }) => number === tensor.rawData)
  if (raw === undefined) return null
  const named = rebuilt(file, field, ({ number }) => (number === tensor.rawData ? Buffer.alloc(0) : null))
  const place = { location: basename(path), offset: String(raw.start), length: String(raw.end - raw.start) }
  const entries = Object.entries(place).map(([key, value]) =>
    delimited(tensor.externalData, Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, Buffer.from(value))])),
  )
  const isExternal = Buffer.concat([varint(tensor.dataLocation << 3), varint(1)])
  return delimited(graphInitializer, Buffer.concat([named, ...entries, isExternal]))
}

function* fieldsIn(file: number, from: number, to: number): Generator<Field> {
  for (let head = from; head < to;) {
    const tag = readVarint(file, head)
    const [number, kind] = [tag.value >>> 3, tag.value & 7]
    const size = kind === 2 ? readVarint(file, tag.next) : { value: fixedBytes(file, kind, tag.next), next: tag.next }
    const end = size.next + size.value
    if (end > to) throw new TypeError('The model ends in the middle of a field.')
    yield { number, head, start: size.next, end }
    head = end
  }
}

/** How long the content of a field is that does not say so itself. */
function fixedBytes(file: number, kind: number, at: number): number {
  if (kind === 0) return readVarint(file, at).next - at
  if (kind === 1) return 8
  if (kind === 5) return 4
  throw new TypeError(`The model has a field of kind ${kind}, which no ONNX file has.`)
}

const maxVarintBytes = 10

function readVarint(file: number, at: number): { value: number; next: number } {
  const bytes = bytesAt(file, at, at + maxVarintBytes)
  let value = 0
  for (const [place, byte] of bytes.entries()) {
    value += (byte & 0x7f) * 2 ** (7 * place)
    if (byte < 0x80) return { value, next: at + place + 1 }
  }
  throw new TypeError('The model ends in the middle of a number.')
}

function bytesAt(file: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from)
  return bytes.subarray(0, readSync(file, bytes, 0, to - from, from))
}

function delimited(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80)
  return Buffer.from([...bytes, left])
}
