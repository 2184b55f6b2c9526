import { broken, excessive, escapeEnd, isCompleteNumber, literalEnd, numberEnd, plainInString } from './json-tokens.ts'
import type { KeyShapes } from './key-shapes.ts'
import { kinds, newShape, noteNumber, notePlainText, noteText, noteWord } from './shape.ts'
import type { KeyNode, Shape } from './shape-tree.ts'

const value = 0
const valueOrEnd = 1
const key = 2
const keyOrEnd = 3
const colon = 4
const after = 5
const inText = 6
const inKey = 7
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

const needs = ['a value', 'a value', 'a key', 'a key', 'a colon', 'a comma or a closing bracket', '', '']
/** Keys are remembered, so an answer must not be able to fill the memory with them. */
const maxKey = 4096
const maxKeys = 100_000

const isObject = 1
const isArray = 2
/** A cut text shorter than this is read again from its start, since it may be a date; a longer one is none. */
const maxDate = 40

/** Where the string that goes on at `from` ends, at its quote; `-1 - at` when it is cut off and goes on from `at`. */
export function textEnd(buffer: Buffer, from: number, end: number, last: boolean): number {
  let at = from
  for (;;) {
    while (at < end && plainInString[buffer[at] as number] === 1) at += 1
    if (at >= end) return -1 - at
    const byte = buffer[at] as number
    if (byte === 0x22) return at
    if (byte !== 0x5c) throw broken('A string holds a bare control character', at)
    const stop = escapeEnd(buffer, at, end, last)
    if (stop === 0) return -1 - at
    if (stop < 0) throw broken('A string holds an escape that JSON does not know', at)
    at = stop
  }
}

/**
 * Reads one JSON value that arrives in pieces and checks every byte of it. With a shape it learns what the value holds.
 * Line breaks between tokens are overwritten with spaces. This is the hot loop: its state lives in locals.
 */
// Over 70 lines: its parts call each other for every value and share one cursor.
export function createValueReader(shapes: KeyShapes, maxDepth: number) {
  const containers = new Uint8Array(maxDepth + 1)
  const nodes: KeyNode[] = []
  const shapesAt: Shape[] = []
  const seen: (Set<string> | null)[] = []
  let tracks = false
  let state: State = value
  let depth = 0
  let depthLeft = maxDepth
  let done = true
  let onlyLists = false

  /** The next bytes start a value, `depthNow` levels deep in the document. */
  function begin(shape: Shape | null, depthNow: number): void {
    tracks = shape !== null
    shapesAt[0] = shape ?? shapes.rows
    state = value
    depth = 0
    depthLeft = maxDepth - depthNow
    done = false
    onlyLists = true
  }

  function learnKey(buffer: Buffer, start: number, stop: number): void {
    const raw = buffer.subarray(start, stop)
    if (raw.length > maxKey) throw excessive(`A key is longer than ${maxKey} bytes`, start)
    if (raw.includes('\\u0000')) hideNul(raw)
    const node = nodes[depth] ?? shapes.enter(shapes.rows)
    let used = seen[depth] ?? null
    const known = used === null ? shapes.follow(node, raw) : null
    if (known === null) used ??= shapes.namesUpTo(node)
    if (used !== null && used.size >= maxKeys) throw broken(`An object has more than ${maxKeys} keys`, start)
    seen[depth] = used
    const reached = known ?? shapes.followLoose(node, raw, used ?? new Set())
    nodes[depth] = reached
    shapesAt[depth] = reached.shape
  }

  /** Enters the list or object that opens at `at`, one level down. */
  function open(type: 1 | 2, at: number): void {
    const shape = shapesAt[depth] ?? shapes.rows
    depth += 1
    if (depth > depthLeft) throw excessive(`The JSON is nested deeper than ${maxDepth} levels`, at)
    containers[depth] = type
    if (!tracks) return
    if (type === isArray) {
      shape.kinds |= kinds.array
      shapesAt[depth] = shape.items ??= newShape()
      return
    }
    shape.kinds |= kinds.object
    shapesAt[depth] = shape
    nodes[depth] = shapes.enter(shape)
    seen[depth] = null
  }

  /** The key at `at`: where it ends, or -1 when it is cut off. A key that came here before costs one comparison. */
  function keyEnd(buffer: Buffer, at: number, end: number, last: boolean): number {
    const expected = nodes[depth]?.next ?? null
    if (expected !== null && seen[depth] === null && matches(buffer, at, end, expected.raw)) {
      nodes[depth] = expected
      shapesAt[depth] = expected.shape
      return at + expected.raw.length
    }
    const stop = textEnd(buffer, at + 1, end, last)
    if (stop < 0) return -1
    learnKey(buffer, at, stop + 1)
    return stop + 1
  }

  /** The number or word at `at`: where it ends, or -1 when it is cut off. */
  function scalarEnd(buffer: Buffer, at: number, end: number, last: boolean): number {
    const byte = buffer[at] as number
    if (byte > 0x39) {
      const stop = literalEnd(buffer, at, end)
      if (stop < 0) throw unexpected(byte, value, at)
      if (stop === 0) return -1
      if (tracks) noteWord(shapesAt[depth] as Shape, byte)
      return stop
    }
    const stop = numberEnd(buffer, at, end)
    if (stop < 0) throw unexpected(byte, value, at)
    if (stop === end && !(last && isCompleteNumber(buffer, stop))) return -1
    if (tracks) noteNumber(shapesAt[depth] as Shape, buffer, at, stop)
    return stop
  }

  /**
   * Reads on from `from`; answers where it stopped: behind the value, or where a cut token starts. One turn of the loop
   * is one member: value, what follows it, next key.
   */
  function run(buffer: Buffer, from: number, end: number, last: boolean): number {
    let at = from
    let now: State = state
    while (at < end) {
      let byte = buffer[at] as number
      if (now >= inText) {
        const stop = textEnd(buffer, at, end, last)
        if (stop < 0) {
          at = -1 - stop
          break
        }
        at = stop + 1
        now = now === inKey ? colon : after
        if (now === after && depth === 0) break
        continue
      }
      if (byte <= 0x20) {
        if (byte === 0x0a || byte === 0x0d) buffer[at] = 0x20
        else if (byte !== 0x20 && byte !== 0x09) throw unexpected(byte, now, at)
        at += 1
        continue
      }
      if (now === colon) {
        if (byte !== 0x3a) throw unexpected(byte, now, at)
        at += 1
        now = value
        continue
      }
      if (now <= valueOrEnd) {
        if (depth === 1 && byte !== 0x5b) onlyLists = false
        if (byte === 0x22) {
          const start = at
          at += 1
          while (at < end && plainInString[buffer[at] as number] === 1) at += 1
          if (at >= end && !last && at - start < maxDate) {
            at = start
            break
          }
          if (at >= end || buffer[at] !== 0x22) {
            if (tracks) notePlainText(shapesAt[depth] as Shape)
            now = inText
            continue
          }
          if (tracks) noteText(shapesAt[depth] as Shape, buffer, start + 1, at)
          at += 1
        } else if (byte === 0x7b || byte === 0x5b) {
          open(byte === 0x7b ? isObject : isArray, at)
          now = byte === 0x7b ? keyOrEnd : valueOrEnd
          at += 1
          continue
        } else if (byte !== 0x5d || now === value) {
          const stop = scalarEnd(buffer, at, end, last)
          if (stop < 0) break
          at = stop
        }
        now = after
        if (depth === 0 || at >= end) break
        byte = buffer[at] as number
      }
      if (now === after) {
        const inObject = containers[depth] === isObject
        if (byte === 0x2c) {
          now = inObject ? key : value
          at += 1
          if (!inObject || buffer[at] !== 0x22) continue
          byte = 0x22
        } else if (byte === (inObject ? 0x7d : 0x5d)) {
          at += 1
          depth -= 1
          if (depth === 0) break
          continue
        } else if (byte <= 0x20) continue
        else throw unexpected(byte, now, at)
      }
      if (at >= end) break
      if (byte !== 0x22) {
        if (byte !== 0x7d || now === key) throw unexpected(byte, now, at)
        now = after
        continue
      }
      if (!tracks) {
        now = inKey
        at += 1
        continue
      }
      const stop = keyEnd(buffer, at, end, last)
      if (stop < 0) break
      at = stop
      now = colon
      if (at >= end || buffer[at] !== 0x3a) continue
      at += 1
      now = value
    }
    done = now === after && depth === 0
    state = now
    return at
  }

  return {
    begin,
    run,
    isDone: () => done,
    /** Whether the value just read is an object that holds lists and nothing else. */
    holdsOnlyLists: () => onlyLists,
  }
}

/** Readers written in C end a key at this character, and two keys would become one; its stand-in is as long. */
function hideNul(raw: Buffer): void {
  for (let nul = raw.indexOf('\\u0000'); nul >= 0; nul = raw.indexOf('\\u0000', nul + 1)) {
    if ((JSON.parse(raw.toString()) as string).includes('\0')) raw.write('\\ufffd', nul, 'latin1')
  }
}

function matches(buffer: Buffer, at: number, end: number, raw: Uint8Array): boolean {
  const length = raw.length
  if (at + length > end) return false
  for (let index = 1; index < length; index += 1) if (buffer[at + index] !== raw[index]) return false
  return true
}

function unexpected(byte: number, state: State, at: number): Error {
  return broken(
    `Found ${JSON.stringify(String.fromCodePoint(byte))} where the JSON needs ${needs[state] ?? 'more'}`,
    at,
  )
}
