/**
 * One place of a parsed value that lies outside of its lists: a scalar with its value (a long text cut), a list with its
 * length, or an object with neither.
 */
export type Position = {
  path: string[]
  value?: string | number | boolean | null
  /** `holdsNodes`: its first member is an edge of Relay, with the row as `node`. */
  list?: { count: number; holdsObjects: boolean; holdsNodes?: true }
}

const maxDepth = 4
const maxPlaces = 2_000
const maxChars = 200
/** Keys and values of all places together. */
const maxTextChars = 65_536

/** The places of a value outside of its lists, the shallow ones first. Small however large the value is. */
export function outlineOf(root: unknown): Position[] {
  const places: Position[] = [placeOf([], root)]
  const objects: Array<{ path: string[]; value: object }> = isObject(root) ? [{ path: [], value: root }] : []
  let chars = 0
  for (const { path, value } of objects) {
    if (path.length >= maxDepth) break
    for (const key in value) {
      if (places.length >= maxPlaces || chars >= maxTextChars) return places
      if (key.length > maxChars || !Object.hasOwn(value, key)) continue
      const inner: unknown = (value as Record<string, unknown>)[key]
      const place = placeOf([...path, key], inner)
      places.push(place)
      chars += place.path.reduce((sum, step) => sum + step.length, String(place.value ?? '').length)
      if (isObject(inner)) objects.push({ path: place.path, value: inner })
    }
  }
  return places
}

function placeOf(path: string[], value: unknown): Position {
  if (Array.isArray(value)) {
    const [first] = value as unknown[]
    const nodes = isObject(first) && Object.hasOwn(first, 'node') ? { holdsNodes: true as const } : {}
    return { path, list: { count: value.length, holdsObjects: value.every(isContainer), ...nodes } }
  }
  if (typeof value === 'string') return { path, value: value.slice(0, maxChars) }
  return isContainer(value) ? { path } : { path, value: value as number | boolean | null }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isObject(value: unknown): value is object {
  return isContainer(value) && !Array.isArray(value)
}
