/**
 * A parsed value as JSON of at most so many bytes, about: lists lose their last elements and long texts their end, and
 * what follows a long member in its object stays. Takes time by what is left, not by what there was.
 */
export function cutValue(value: unknown, maxBytes: number): { value: unknown; isCut: boolean } {
  return jsonBytes(value, maxBytes) <= maxBytes ? { value, isCut: false } : { value: cut(value, maxBytes), isCut: true }
}

/** The bytes of a value as JSON; counted no further than `most`, so that it may be more than what is answered. */
export function jsonBytes(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length > most ? value.length : Buffer.byteLength(JSON.stringify(value))
  if (typeof value !== 'object' || value === null) return String(value).length
  let bytes = 2
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= most; at += 1) bytes += 1 + jsonBytes(value[at], most - bytes)
    return bytes
  }
  for (const key in value) {
    if (bytes > most) break
    bytes += 2 + jsonBytes(key, most) + jsonBytes((value as Record<string, unknown>)[key], most - bytes)
  }
  return bytes
}

/** A member no larger than this is kept before others share what is left. */
const smallBytes = 1_024
/** A larger one has room for this much at least. */
const leastBytes = 64

function cut(value: unknown, room: number): unknown {
  if (typeof value === 'string') return cutText(value, room)
  if (Array.isArray(value)) return cutList(value, room)
  return typeof value === 'object' && value !== null ? cutObject(value as Record<string, unknown>, room) : value
}

/** By halves: one character can take six bytes. */
function cutText(text: string, room: number): string {
  let short = text.slice(0, Math.max(0, room))
  while (short.length > 0 && jsonBytes(short, room) > room) short = short.slice(0, Math.floor(short.length / 2))
  return short
}

/** Whole elements, as many as there is room for; the beginning of the first where not even that fits. */
function cutList(list: unknown[], room: number): unknown[] {
  const shown: unknown[] = []
  let left = room - 2
  for (const element of list) {
    const bytes = 1 + jsonBytes(element, left)
    if (bytes > left) break
    shown.push(element)
    left -= bytes
  }
  return shown.length === 0 && left > smallBytes ? [cut(list[0], left)] : shown
}

function cutObject(object: Record<string, unknown>, room: number): Record<string, unknown> {
  const shown: string[] = []
  const large: string[] = []
  let left = room - 2
  for (const key in object) {
    const name = 2 + jsonBytes(key, left)
    const bytes = name + jsonBytes(object[key], smallBytes)
    const isSmall = bytes - name <= smallBytes
    const taken = isSmall ? bytes : name + leastBytes
    if (taken > left) break
    left -= taken
    shown.push(key)
    if (!isSmall) large.push(key)
  }
  left += large.length * leastBytes
  const shares = new Map<string, unknown>()
  for (const [at, key] of large.entries()) {
    const share = Math.floor(left / (large.length - at))
    const { value } = cutValue(object[key], share)
    shares.set(key, value)
    left -= Math.min(share, jsonBytes(value, share))
  }
  // Own properties by definition, whatever they are called.
  return Object.fromEntries(shown.map((key) => [key, shares.has(key) ? shares.get(key) : object[key]]))
}
