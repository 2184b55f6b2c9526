/**
 * What differs between two contracts, a line each: `GET /v1/charges parameters.limit.maximum: 100 → 50`. A list of values
 * is a set: `values: + archived`. A document that moved to another commit and says the same has not changed.
 */
export function changesBetween(old, fresh) {
  if (old === undefined) return ['new']
  const before = flat(old)
  const after = flat(fresh)
  const paths = [...new Set([...before.keys(), ...after.keys()])]
  const changes = paths.filter((path) => before.get(path) !== after.get(path))
  if (changes.every((path) => ofCommit.test(path))) return []
  return changes.map((path) => {
    const [list, value] = path.split(member)
    if (value !== undefined) return `${list}: ${after.has(path) ? '+' : '-'} ${value}`
    if (!after.has(path)) return `${path}: gone (was ${before.get(path)})`
    if (!before.has(path)) return `${path}: new (${after.get(path)})`
    return `${path}: ${before.get(path)} → ${after.get(path)}`
  })
}

const ofCommit = /^documents\.\d+\.commit$/
/** Between the path of a list and a value in it. */
const member = ' ∋ '

function flat(value, path = '', into = new Map()) {
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) {
    for (const each of value) into.set(`${path}${member}${each}`, 'there')
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) flat(each, path === '' ? key : `${path}.${key}`, into)
  } else into.set(path, String(value))
  return into
}
