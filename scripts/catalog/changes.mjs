/** What differs between two contracts, a line each: `GET /v1/charges parameters.limit.maximum: 100 → 50`. */
export function changesBetween(old, fresh) {
  if (old === undefined) return ['new']
  const before = flat(old)
  const after = flat(fresh)
  const paths = [...new Set([...before.keys(), ...after.keys()])]
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => {
      if (!after.has(path)) return `${path}: gone (was ${before.get(path)})`
      if (!before.has(path)) return `${path}: new (${after.get(path)})`
      return `${path}: ${before.get(path)} → ${after.get(path)}`
    })
}

function flat(value, path = '', into = new Map()) {
  if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) flat(each, path === '' ? key : `${path}.${key}`, into)
  } else into.set(path, String(value))
  return into
}
