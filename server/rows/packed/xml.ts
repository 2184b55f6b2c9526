import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import sax from 'sax'
import { Failure } from '../../failure.ts'
import { noMatch, parsePath } from '../json/json-path.ts'
import { createRowWriter } from '../text/row-file.ts'

export type XmlOptions = {
  /** Names of elements from the root, or from below it; without one, what repeats first is a row. */
  path?: string | undefined
  charset: string
  maxDepth: number
  goOn?: (() => void) | undefined
}

/** An element that is open: its parts as JSON, by name. */
type Open = { name: string; parts: Map<string, string[]>; text: string }

const maxPlaces = 10_000
const maxRowChars = 67_108_864

/**
 * The elements of an XML document as one row a line: attributes are `@name`, text beside elements is `#text`, what
 * repeats is a list. Entities that a document defines for itself are not known, so none can blow it up.
 */
export async function xmlToLines(inputPath: string, outputPath: string, options: XmlOptions): Promise<void> {
  const rowPath = await findRows(inputPath, options)
  await using file = await open(outputPath, 'w', 0o600)
  const writer = createRowWriter(file, 0)
  const stack: Open[] = []
  let chars = 0
  await walk(inputPath, options, {
    opened(path, name, attributes) {
      if (stack.length === 0 && path !== rowPath) return
      const parts = new Map(Object.entries(attributes).map(([key, value]) => [`@${key}`, [jsonOf(value)]]))
      stack.push({ name, parts, text: '' })
    },
    onText(text) {
      const inner = stack.at(-1)
      if (inner === undefined) return
      inner.text += text
      chars += text.length
      if (chars > maxRowChars) throw unreadable('holds a row of more than 64 MB')
    },
    closed() {
      const done = stack.pop()
      if (done === undefined) return
      const json = elementJson(done)
      const parent = stack.at(-1)
      if (parent === undefined) {
        chars = 0
        writer.text(json.startsWith('{') ? `${json}\n` : `{"value":${json}}\n`)
        return
      }
      const known = parent.parts.get(done.name)
      if (known === undefined) parent.parts.set(done.name, [json])
      else known.push(json)
    },
    drain: async () => {
      if (writer.isFull()) await writer.drain()
    },
  })
  await writer.drain()
}

function elementJson({ parts, text }: Open): string {
  const words = text.trim()
  if (parts.size === 0) return words === '' ? 'null' : jsonOf(words)
  const own = words === '' ? [] : [`"#text":${jsonOf(words)}`]
  const named = [...parts].map(([name, [first = 'null', ...more]]) => {
    return `${JSON.stringify(name)}:${more.length === 0 ? first : `[${[first, ...more].join(',')}]`}`
  })
  return `{${[...named, ...own].join(',')}}`
}

/** Numbers and truth as such, as in CSV, in the digits that they came with. */
function jsonOf(text: string): string {
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)
  return isNumber || text === 'true' || text === 'false' ? text : JSON.stringify(text)
}

/** The path of the elements that are rows. */
async function findRows(inputPath: string, options: XmlOptions): Promise<string> {
  const counts = new Map<string, number>()
  await walk(inputPath, options, {
    opened(path) {
      if (counts.size < maxPlaces || counts.has(path)) counts.set(path, (counts.get(path) ?? 0) + 1)
    },
  })
  const paths = [...counts.keys()]
  const [root = ''] = paths
  if (options.path !== undefined && options.path.trim() !== '') {
    const wanted = parsePath(options.path)
    const path = wanted.steps.join('/')
    const found = paths.find((each) => each === path || each === `${root}/${path}`)
    if (found !== undefined) return found
    throw noMatch(wanted.text, {
      steps: wanted.steps,
      matched: 0,
      kind: 'an object',
      keys: paths.map((each) => each.replaceAll('/', '.')),
    })
  }
  const depth = (path: string) => path.split('/').length
  const repeated = [...counts].filter(([, count]) => count > 1)
  repeated.sort(([left, many], [right, more]) => depth(left) - depth(right) || more - many)
  return repeated[0]?.[0] ?? root
}

type Visitor = {
  opened?: (path: string, name: string, attributes: Record<string, string>) => void
  onText?: (text: string) => void
  closed?: () => void
  drain?: () => Promise<void>
}

async function walk(inputPath: string, { charset, maxDepth, goOn }: XmlOptions, visitor: Visitor): Promise<void> {
  const parser = sax.parser(true)
  const names: string[] = []
  parser.onerror = (error) => {
    throw unreadable(`cannot be read: ${error.message.split('\n', 1)[0] ?? ''}`)
  }
  parser.onopentag = ({ name, attributes }) => {
    names.push(name)
    if (names.length > maxDepth) throw unreadable(`nests deeper than ${maxDepth} levels`)
    visitor.opened?.(names.join('/'), name, attributes as Record<string, string>)
  }
  parser.ontext = (text) => visitor.onText?.(text)
  parser.oncdata = (text) => visitor.onText?.(text)
  parser.onclosetag = () => {
    names.pop()
    visitor.closed?.()
  }
  const decoder = new TextDecoder(charset)
  for await (const piece of createReadStream(inputPath, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>) {
    goOn?.()
    parser.write(decoder.decode(piece, { stream: true }))
    await visitor.drain?.()
  }
  parser.write(decoder.decode()).close()
}

function unreadable(what: string): Failure {
  const message = `The XML of the answer ${what}.`
  return new Failure('upstream_error', { reason: 'not_tabular', message })
}
