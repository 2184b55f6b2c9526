import { open, type FileHandle } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import { noMatch, type EachStep, type JsonPath, type PathStep } from './json/json-path.ts'
import { createJsonScanner, type ScanOptions } from './json/json-scan.ts'
import { createKeyShapes } from './json/key-shapes.ts'
import { createLineReader } from './text/lines.ts'
import { createRowWriter } from './text/row-file.ts'
import { kinds } from './json/shape.ts'

type Walk = {
  /** What the path leads to up to its first `*`: one member a line, as `memberLine` writes them. */
  members: FileHandle
  path: JsonPath
  maxDepth: number
  goOn?: (() => void) | undefined
  rows: FileHandle
  base: number
  /** For what lies between one `*` and the next. */
  workPath: string
}

const tab = 0x09

/** What stands before a member: the columns that its keys become. JSON text holds no bare tab before its first value. */
export function memberLead(columns: string, { key }: EachStep, name: string | null): string {
  if (key === null) return `${columns}\t`
  const own = `${JSON.stringify(key)}:${name === null ? 'null' : JSON.stringify(name)}`
  return `${columns === '' ? own : `${columns},${own}`}\t`
}

/** The rows under every member, each with the keys that led to it. Answers how many, and whether any repeats a key. */
export async function expandMembers(walk: Walk): Promise<{ rowCount: number; hasDuplicates: boolean }> {
  const [, ...further] = walk.path.each ?? []
  let members = walk.members
  const opened: FileHandle[] = []
  try {
    for (const [index, step] of further.entries()) {
      const file = await open(`${walk.workPath}.each${index % 2}`, 'w+', 0o600)
      opened.push(file)
      const steps = walk.path.each?.[index]?.steps ?? []
      await eachLine(walk, { members, steps, emit: 'members', next: step, file, base: 0 })
      members = file
    }
    const steps = walk.path.each?.at(-1)?.steps ?? []
    return await eachLine(walk, { members, steps, emit: 'rows', next: null, file: walk.rows, base: walk.base })
  } finally {
    for (const file of opened) await file.close()
  }
}

type Stage = {
  members: FileHandle
  steps: PathStep[]
  emit: Extract<ScanOptions['emit'], 'rows' | 'members'>
  next: EachStep | null
  file: FileHandle
  base: number
}

async function eachLine(walk: Walk, stage: Stage): Promise<{ rowCount: number; hasDuplicates: boolean }> {
  const writer = createRowWriter(stage.file, stage.base)
  const lines = createLineReader(stage.members, { from: 0 })
  let rowCount = 0
  let hasDuplicates = false
  let missed: Failure | null = null
  let isFound = false
  for (let line = await lines.read(); line !== null; line = lines.next() ?? (await lines.read())) {
    walk.goOn?.()
    const split = line.indexOf(tab)
    const columns = line.toString('utf8', 0, split)
    const found = readMember(walk, stage, { value: line.subarray(split + 1), columns })
    if (found !== null && 'missed' in found) missed = found.missed
    else if (found !== null) {
      isFound = true
      rowCount += found.count
      hasDuplicates ||= found.hasDuplicates
      for (const piece of found.pieces) writer.copy(piece)
    }
    if (writer.isFull()) await writer.drain()
  }
  await writer.drain()
  // A key that some members lack is nothing unusual; one that none has is a mistake.
  if (!isFound && missed !== null) throw missed
  return { rowCount, hasDuplicates }
}

type Member = { value: Buffer; columns: string }
type Found = { pieces: Buffer[]; count: number; hasDuplicates: boolean } | { missed: Failure } | null

function readMember({ path, maxDepth }: Walk, stage: Stage, { value, columns }: Member): Found {
  const { steps, emit, next } = stage
  if (steps.length > 0 && value.length < 16 && value.toString('latin1').trim() === 'null') return null
  const shapes = createKeyShapes()
  let pieces: Buffer[] = []
  const scanner = createJsonScanner({
    steps,
    exactKey: null,
    pathText: path.text,
    emit,
    documents: 'one',
    maxDepth,
    shapes,
    sink: {
      bytes: (buffer, start, end) => void pieces.push(Buffer.from(buffer.subarray(start, end))),
      restart: () => void (pieces = []),
      column: (name) => {
        if (next !== null) pieces.push(Buffer.from(memberLead(columns, next, name)))
      },
    },
  })
  try {
    const used = scanner.push(value, value.length, true)
    const { rowCount: count, kind, rest } = scanner.finish(value.length - used)
    if (kind === 'string' && rest.length > 0) {
      return { missed: noMatch(path.text, { steps, matched: steps.length - rest.length, kind: 'text' }) }
    }
    // Many servers write an empty list as null.
    if (steps.length > 0 && kind === 'scalar' && shapes.rows.fields.get('value')?.kinds === kinds.null) return nothing
    if (emit === 'members' || columns === '') return { pieces, count, hasDuplicates: shapes.hasDuplicates() }
    refuseTaken(path, shapes.rows.fields)
    return { pieces: withColumns(Buffer.concat(pieces), columns), count, hasDuplicates: shapes.hasDuplicates() }
  } catch (error) {
    if (error instanceof Failure && error.reason === 'extractor_no_match') return { missed: error }
    throw error
  }
}

const nothing: Found = { pieces: [], count: 0, hasDuplicates: false }

/** Two values of one name would be one. */
function refuseTaken({ each = [] }: JsonPath, fields: ReadonlyMap<string, unknown>): void {
  const taken = each.find(({ key }) => key !== null && fields.has(key))
  if (taken === undefined) return
  const message = `calls a key {${taken.key}}, and the rows have a ${taken.key} of their own; choose another name`
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `responsePathExtractor ${message}.`,
    details: [{ field: 'responsePathExtractor', message }],
  })
}

/** Rows, one or several lines of them, with these columns before their own. */
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
