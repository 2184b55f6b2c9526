import type { FileHandle } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import { noMatch, type JsonPath, type PathStep } from './json/json-path.ts'
import { createJsonScanner, type ScanOptions } from './json/json-scan.ts'
import { createKeyShapes } from './json/key-shapes.ts'
import { createMemberWalk, type FoundRows, type KeyColumn, type PathMember, type Miss } from './json/member-walk.ts'
import { createLineReader } from './text/lines.ts'
import { createRowWriter, mostRowBytes, refuseRepeating } from './text/row-file.ts'
import { kinds } from './json/shape.ts'

/** An extractor with `*`, on its way through a file. */
type Expansion = {
  /** Members that the path leads to up to its first `*`, one a line: the name as JSON, a tab, the value. */
  members: FileHandle
  path: JsonPath
  maxDepth: number
  goOn?: (() => void) | undefined
  rows: FileHandle
  base: number
}

const tab = 0x09

/** The name of a member and the tab behind it: no bare tab stands in JSON text. */
export function memberLead(name: string | null): string {
  return `${JSON.stringify(name)}\t`
}

/** Writes the rows under every member, each with the keys that led to it. Returns how many, and whether any repeats a key. */
export async function expandMembers({ members, path, rows, base, ...options }: Expansion): Promise<{
  rowCount: number
  hasDuplicates: boolean
}> {
  const most = await mostRowBytes(members)
  const writer = createRowWriter(rows, base, most)
  const lines = createLineReader(members, { from: 0 })
  let rowCount = 0
  let hasDuplicates = false
  const walk = createMemberWalk(path, readerOf(path, options.maxDepth), (found, columns) => {
    rowCount += found.count
    hasDuplicates ||= found.hasDuplicates
    for (const piece of led(found, columns, most)) writer.copy(piece)
    return true
  })
  for (let line = await lines.read(); line !== null; line = lines.next() ?? (await lines.read())) {
    options.goOn?.()
    const split = line.indexOf(tab)
    walk.enterMember([JSON.parse(line.toString('utf8', 0, split)) as string | null, line.subarray(split + 1)])
    if (writer.isFull()) await writer.drain()
  }
  await writer.drain()
  walk.finish()
  return { rowCount, hasDuplicates }
}

/** Pieces of a member's own bytes. */
type RowBytes = { pieces: Buffer[]; count: number; hasDuplicates: boolean }

function led({ pieces, count }: RowBytes, columns: KeyColumn[], most: number): Buffer[] {
  if (columns.length === 0) return pieces
  const keys = columns.map(([key, name]) => `${JSON.stringify(key)}:${JSON.stringify(name)}`).join(',')
  refuseRepeating(count * keys.length, most)
  return withColumns(Buffer.concat(pieces), keys)
}

/** Reads members by the scanner that reads whole answers, so that no value changes. */
function readerOf(path: JsonPath, maxDepth: number) {
  const scan = (value: Buffer, options: Pick<ScanOptions, 'steps' | 'emit' | 'sink'>) =>
    orMiss(() => {
      const shapes = createKeyShapes()
      const scanner = createJsonScanner({
        ...options,
        exactKey: null,
        pathText: path.text,
        documents: 'one',
        maxDepth,
        shapes,
      })
      const used = scanner.push(value, value.length, true)
      return { ...scanner.finish(value.length - used), shapes }
    })

  return {
    isNull: (value: Buffer) => value.length < 16 && value.toString('latin1').trim() === 'null',

    members(value: Buffer, steps: PathStep[]): Miss | Iterable<PathMember<Buffer>> {
      let members: Array<PathMember<Buffer>> = []
      let name: string | null = null
      const found = scan(value, {
        steps,
        emit: 'members',
        sink: {
          // Bytes of another buffer are the line break behind a member.
          bytes: (buffer, start, end) => {
            if (buffer === value) members.push([name, value.subarray(start, end)])
          },
          restart: () => void (members = []),
          column: (own) => void (name = own),
        },
      })
      return 'miss' in found ? found : members
    },

    rows(value: Buffer, steps: PathStep[]): Miss | FoundRows<RowBytes> {
      let pieces: Buffer[] = []
      const found = scan(value, {
        steps,
        emit: 'rows',
        sink: {
          bytes: (buffer, start, end) => void pieces.push(buffer.subarray(start, end)),
          restart: () => void (pieces = []),
          column: () => undefined,
        },
      })
      if ('miss' in found) return found
      const { rowCount: count, kind, rest, shapes } = found
      if (kind === 'string' && rest.length > 0) {
        const miss = { steps, matched: steps.length - rest.length, kind: 'text' }
        return { miss: () => noMatch(path.text, miss) }
      }
      const { fields } = shapes.rows
      return {
        rows: { pieces, count, hasDuplicates: shapes.hasDuplicates() },
        isNull: kind === 'scalar' && fields.get('value')?.kinds === kinds.null,
        has: (key) => fields.has(key),
      }
    },
  }
}

function orMiss<Found extends object>(find: () => Found): Found | Miss {
  try {
    return find()
  } catch (error) {
    if (error instanceof Failure && error.reason === 'extractor_no_match') return { miss: () => error }
    throw error
  }
}

/** Rows, one a line, with these columns before their own. */
export function withColumns(rows: Buffer, columns: string): Buffer[] {
  const pieces: Buffer[] = []
  const lead = Buffer.from(`{${columns}`)
  const comma = Buffer.from(',')
  for (let at = 0; at < rows.length;) {
    const found = rows.indexOf(0x0a, at)
    const end = found < 0 ? rows.length : found + 1
    const start = rows.indexOf(0x7b, at) + 1
    let inner = start
    while (rows[inner] === 0x20 || rows[inner] === 0x09) inner += 1
    pieces.push(lead, ...(rows[inner] === 0x7d ? [] : [comma]), rows.subarray(inner, end))
    at = end
  }
  return pieces
}
