import { Readable } from 'node:stream'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** As `map`, with others let in between: for lists that are as long as somebody made them. */
export async function mapInPieces<Item, Value>(items: readonly Item[], work: (item: Item) => Value): Promise<Value[]> {
  const values: Value[] = []
  for (const item of items) {
    values.push(work(item))
    await yieldToEventLoop()
  }
  return values
}

/** A value is written at once below so many levels: what is large is many, not deep. */
const levels = 3

/** As `JSON.stringify`, with others let in between. */
export async function jsonInPieces(value: unknown): Promise<string> {
  let text = ''
  for await (const piece of jsonTexts(value)) text += piece
  return text
}

const pieceBytes = 65_536

/** The same as bytes. A large one is a stream: nobody has to hold it as one text, or to encode it at once. */
export async function jsonBody(value: unknown): Promise<Buffer | Readable> {
  const chunks = jsonChunks(value)
  const first = await chunks.next()
  if (first.done === true || first.value.length < pieceBytes) return first.value ?? Buffer.from('')
  return Readable.from(startingWith(first.value, chunks), { objectMode: false })
}

async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

async function* jsonChunks(value: unknown): AsyncGenerator<Buffer> {
  let text = ''
  for await (const piece of jsonTexts(value)) {
    text += piece
    if (text.length < pieceBytes) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

async function* jsonTexts(value: unknown, depth = levels): AsyncGenerator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || 'toJSON' in value) {
    await yieldToEventLoop()
    yield JSON.stringify(value) ?? 'null'
    return
  }
  const isList = Array.isArray(value)
  let separator = isList ? '[' : '{'
  if (isList) {
    for (const item of value) {
      yield separator
      yield* jsonTexts(item, depth - 1)
      separator = ','
    }
  } else {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${separator}${JSON.stringify(name)}:`
      yield* jsonTexts(member, depth - 1)
      separator = ','
    }
  }
  yield separator === ',' ? (isList ? ']' : '}') : isList ? '[]' : '{}'
}
