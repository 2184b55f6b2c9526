import { Failure } from '../../failure.ts'
import { keysNamed, noMatch, type PathMiss, type PathStep, stepIndex } from './json-path.ts'
import { broken, notJson } from './json-tokens.ts'
import { createValueReader, textEnd } from './json-value.ts'
import { type KeyShapes } from './key-shapes.ts'
import type { Shape } from './shape-tree.ts'

/** Where the scanner puts what it finds. `bytes` are valid until `push` returns and the sink is drained. */
type RowSink = {
  bytes: (buffer: Buffer, start: number, end: number) => void
  /** The value at the path comes again (a repeated key: the last one counts). */
  restart: () => void
  /** `columns` and `members`: what comes next belongs to this key, or to a list; so many came before. */
  column: (name: string | null, elements: number) => void
}

export type ScanOptions = {
  steps: PathStep[]
  pathText: string
  /** A top-level key that is the whole extractor, dots and all, wins over the path. */
  exactKey: string | null
  /** `rows`: one row a line. `columns`: the lists of an object, one bare element a line. `members`: one bare member a line. */
  emit: 'rows' | 'columns' | 'members'
  /** `lines`: every document is a row. `sniff`: objects on lines of their own are, too. */
  documents: 'one' | 'sniff' | 'lines'
  maxDepth: number
  shapes: KeyShapes
  sink: RowSink
}

export type ScanResult = {
  rowCount: number
  kind: 'array' | 'object' | 'string' | 'scalar'
  documents: number
  /** The one row is an object that holds lists and nothing else. */
  holdsOnlyLists: boolean
  /** The path runs on inside a string: these steps are left. */
  rest: PathStep[]
  /** The shape covers more than the rows: some were given up for others that came later. */
  isAgain: boolean
  maxBytes: number
}

const wrapOpen = Buffer.from('{"value":')
const wrapClose = Buffer.from('}')
const wrapCloseLine = Buffer.from('}\n')
const lineBreak = Buffer.from('\n')

const object = 1
const array = 2
/** `path`: leads to the target. `rows`: its elements are rows. `columns`: its members are lists of elements. `members`: each is one. */
type Level = { type: 1 | 2; role: 'path' | 'rows' | 'columns' | 'members'; index: number }
type State = 'value' | 'first' | 'key' | 'colon' | 'after' | 'between' | 'inside'

/**
 * Follows a path through JSON that arrives in pieces and hands on the bytes of every row as they were sent, so that no
 * number changes. The whole document is checked. Nothing is kept but the open brackets.
 *
 * The comma behind a row is overwritten with a line break: an array of objects becomes one row a line in place, and
 * its bytes go out without a copy.
 */
// Over 70 lines: every byte of every answer passes here, and a call per state would double its time.
export function createJsonScanner(options: ScanOptions) {
  const { steps, sink, shapes } = options
  const reader = createValueReader(shapes, options.maxDepth)
  const levels: Level[] = []
  let state: State = 'between'
  let offset = 0
  let documents = 0
  let lineBreakSeen = true

  let onPath = true
  let isExact = false
  let exactDone = false
  let miss: PathMiss = { steps, matched: 0, kind: 'empty' }

  let found = false
  let foundEver = false
  let isRow = false
  let isWrapped = false
  let isTarget = false
  let pieceStart = -1
  let rowCount = 0
  let kind: ScanResult['kind'] = 'scalar'
  let holdsOnlyLists = false
  let rest: PathStep[] = []
  let isAgain = false
  let rowStart = 0
  let maxBytes = 0
  /** The owner of the next row that is handed on as it is: the rows, or one of their columns. */
  let rowShape = shapes.rows
  let bareShape: Shape | null = null

  function flush(buffer: Buffer, at: number): void {
    if (pieceStart >= 0 && at > pieceStart) sink.bytes(buffer, pieceStart, at)
    pieceStart = at
  }

  function restart(): void {
    if (!found || documents > 1) return
    found = false
    rowCount = 0
    isAgain = true
    sink.restart()
  }

  function startDocument(at: number): void {
    const bySniff = options.documents === 'sniff' && kind === 'object' && steps.length === 0
    const mayFollow = lineBreakSeen && (options.documents === 'lines' || bySniff)
    if (documents > 0 && !mayFollow) throw broken('After the end of the JSON document there is more', at)
    documents += 1
    lineBreakSeen = false
    found = false
    onPath = true
    isExact = false
    exactDone = false
    state = 'value'
  }

  /** Whether the value that starts with `byte` is opened here, level by level, rather than read in one go. */
  function levelFor(byte: number): Level['role'] | null {
    const parent = levels.at(-1)
    if (parent?.role === 'columns') return byte === 0x5b ? 'rows' : null
    if (parent?.role === 'rows' || parent?.role === 'members') return null
    if (isTarget) {
      if (options.emit === 'columns') return byte === 0x7b ? 'columns' : null
      if (options.emit === 'members') return byte === 0x7b || byte === 0x5b ? 'members' : null
      return kind === 'array' ? 'rows' : null
    }
    return onPath && (byte === 0x7b || byte === 0x5b) ? 'path' : null
  }

  function locate(byte: number): void {
    const parent = levels.at(-1)
    isTarget = false
    if (parent !== undefined && parent.role !== 'path') return
    if (parent?.type === array) {
      onPath = !exactDone && stepIndex(steps[levels.length - 1]) === parent.index
      if (miss.matched === levels.length - 1) miss.length = parent.index + 1
    }
    // Nothing but lists and objects has members; null has none.
    const hasMembers = byte === 0x7b || byte === 0x5b || byte === 0x6e
    const isThere = levels.length === steps.length || (byte === 0x22 && options.emit !== 'members')
    isTarget = isExact || (onPath && isThere && (options.emit !== 'members' || hasMembers))
    if (!isTarget) {
      const isScalar = byte !== 0x7b && byte !== 0x5b
      if (onPath && isScalar) miss = { steps, matched: levels.length, kind: 'a single value' }
      if (isScalar) onPath = false
      return
    }
    rest = isExact ? [] : steps.slice(levels.length)
    if (isExact) exactDone = true
    isExact = false
    onPath = false
    found = true
    foundEver = true
    const asOne = options.documents === 'lines' && steps.length === 0
    kind = byte === 0x7b ? 'object' : byte === 0x22 ? 'string' : byte === 0x5b && !asOne ? 'array' : 'scalar'
  }

  /** A value starts at `at`: follow it, hand it on as a row, or pass over it. */
  function startValue(buffer: Buffer, at: number): number {
    const byte = buffer[at] ?? 0
    locate(byte)
    const role = levelFor(byte)
    if (role !== null) {
      openLevel(byte === 0x7b ? object : array, role)
      return at + 1
    }
    const parent = levels.at(-1)
    isRow = (isTarget && options.emit === 'rows') || parent?.role === 'rows' || parent?.role === 'members'
    if (parent?.role === 'members' && parent.type === array) sink.column(null, rowCount)
    isWrapped = isRow && byte !== 0x7b && options.emit === 'rows'
    if (isRow) {
      rowCount += 1
      rowStart = offset + at
    }
    if (isWrapped) {
      if (pieceStart >= 0) flush(buffer, at)
      sink.bytes(wrapOpen, 0, wrapOpen.length)
      pieceStart = at
    } else if (isRow && pieceStart < 0) pieceStart = at
    reader.begin(
      isRow && options.emit !== 'members' ? (isWrapped ? (bareShape ??= shapes.column('value')) : rowShape) : null,
      levels.length,
    )
    state = 'inside'
    return at
  }

  function openLevel(type: 1 | 2, role: Level['role']): void {
    levels.push({ type, role, index: 0 })
    state = 'first'
    if (role !== 'path') return
    onPath = false
    if (levels.length - 1 < miss.matched) return
    miss = { steps, matched: levels.length - 1, kind: type === object ? 'an object' : 'a list' }
    if (type === object) miss.keys = []
    else miss.length = 0
  }

  /** A value read in one go has ended before `at`. */
  function endValue(buffer: Buffer, at: number, end: number): number {
    if (isRow && offset + at - rowStart > maxBytes) maxBytes = offset + at - rowStart
    if (isWrapped) {
      flush(buffer, at)
      // A row in a list gets its line break here, and not in place of the comma: one piece less to hand on.
      if (isTarget) sink.bytes(wrapClose, 0, 1)
      else {
        sink.bytes(wrapCloseLine, 0, 2)
        pieceStart = -1
      }
    }
    state = levels.length === 0 ? 'between' : 'after'
    if (isRow && options.emit === 'members') {
      flush(buffer, at)
      pieceStart = -1
      sink.bytes(lineBreak, 0, 1)
    }
    if (!isRow || !isTarget) return at
    holdsOnlyLists = kind === 'object' && reader.holdsOnlyLists()
    if (levels.length === 0 && at < end && buffer[at] === 0x0a) {
      // The line break behind a document is the one its row needs.
      lineBreakSeen = true
      return at + 1
    }
    flush(buffer, at)
    pieceStart = -1
    sink.bytes(lineBreak, 0, 1)
    return at
  }

  function closeLevel(buffer: Buffer, at: number): void {
    const level = levels.pop()
    if (level?.role === 'rows' && pieceStart >= 0) {
      // The closing bracket becomes the line break behind the last row.
      buffer[at] = 0x0a
      flush(buffer, at + 1)
      pieceStart = -1
    }
    state = levels.length === 0 ? 'between' : 'after'
  }

  function nameKey(name: string): void {
    state = 'colon'
    if (levels.at(-1)?.role === 'members') return sink.column(name, rowCount)
    if (levels.at(-1)?.role === 'columns') {
      rowShape = shapes.column(name)
      sink.column(name, rowCount)
      return
    }
    if (miss.matched === levels.length - 1 && (miss.keys?.length ?? 0) <= keysNamed) miss.keys?.push(name)
    isExact = levels.length === 1 && name === options.exactKey
    onPath = !isExact && !exactDone && name === steps[levels.length - 1]
    if (isExact || onPath) restart()
  }

  function punctuation(buffer: Buffer, at: number, byte: number): void {
    const level = levels.at(-1)
    const closing = level?.type === object ? 0x7d : 0x5d
    if (byte === closing && (state === 'after' || state === 'first')) return closeLevel(buffer, at)
    if (state === 'colon' && byte === 0x3a) {
      state = 'value'
      return
    }
    if (state !== 'after' || byte !== 0x2c || level === undefined) throw unexpected(byte, at)
    if (level.role === 'rows') buffer[at] = 0x0a
    level.index += 1
    state = level.type === object ? 'key' : 'value'
  }

  function unexpected(byte: number, at: number): Error {
    return broken(`Found ${JSON.stringify(String.fromCodePoint(byte))} where JSON needs something else`, at)
  }

  function space(buffer: Buffer, at: number, byte: number): void {
    if (byte === 0x20 || byte === 0x09) return
    if (byte !== 0x0a && byte !== 0x0d) throw unexpected(byte, at)
    buffer[at] = 0x20
    if (state !== 'between') return
    lineBreakSeen = true
    if (pieceStart >= 0) flush(buffer, at)
    pieceStart = -1
  }

  function scanPiece(buffer: Buffer, end: number, last: boolean): number {
    let at = 0
    while (at < end) {
      if (state === 'inside') {
        at = reader.run(buffer, at, end, last)
        if (!reader.isDone()) return at
        at = endValue(buffer, at, end)
        continue
      }
      const byte = buffer[at] ?? 0
      if (byte <= 0x20) {
        space(buffer, at, byte)
        at += 1
        continue
      }
      if (state === 'between') startDocument(at)
      const inObject = levels.at(-1)?.type === object
      if (byte === 0x22 && inObject && (state === 'key' || state === 'first')) {
        const stop = textEnd(buffer, at + 1, end, last)
        if (stop < 0) return at
        nameKey(JSON.parse(buffer.toString('utf8', at, stop + 1)) as string)
        at = stop + 1
      } else if (state === 'value' || (state === 'first' && !inObject && byte !== 0x5d)) {
        at = startValue(buffer, at)
      } else {
        punctuation(buffer, at, byte)
        at += 1
      }
    }
    return at
  }

  /**
   * Scans `buffer` up to `end` and answers how much of it is used up: a key, number or escape that is cut off stays for
   * the next call, which repeats it at the front.
   */
  function push(buffer: Buffer, end: number, last: boolean): number {
    if (pieceStart >= 0) pieceStart = 0
    try {
      const used = scanPiece(buffer, end, last)
      if (pieceStart >= 0) flush(buffer, used)
      offset += used
      return used
    } catch (error) {
      throw notJson(error, offset)
    }
  }

  /** Call when everything was pushed; `left` bytes were not used up. */
  function finish(left: number): ScanResult {
    if (documents === 0) throw nothingThere()
    if (left > 0 || state !== 'between') throw brokenOff(offset)
    if (!foundEver) throw noMatch(options.pathText, miss)
    return { rowCount, kind, documents, holdsOnlyLists, rest, isAgain, maxBytes }
  }

  return { push, finish }
}

function nothingThere(): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: 'The external API answered with an empty body; there are no rows in it.',
  })
}

function brokenOff(byte: number): Failure {
  return new Failure('upstream_error', {
    reason: 'transfer_error',
    message: `The JSON of the external API breaks off after ${byte} bytes, in the middle of the document. Try again; if it stays so, the API itself sends it incomplete.`,
  })
}
