import { resolve } from './document.ts'
import { isRecord, list, record, type Fields } from './imported.ts'

const maxDepth = 6
const maxFields = 2_000

/** A sample answer of a schema: one record in each list, and values that say what they are. */
export function sampleOf(document: Fields, schema: unknown): unknown {
  let fields = 0

  function sample(given: unknown, name: string, depth: number): unknown {
    const found = record(resolve(document, given))
    const whole = list(found['allOf']).reduce<Fields>(
      (all, part) => merged(all, record(resolve(document, part))),
      found,
    )
    const one = [...list(whole['oneOf']), ...list(whole['anyOf'])].find((each) => record(each)['type'] !== 'null')
    if (one !== undefined && whole['properties'] === undefined) return sample(one, name, depth)
    const type = [whole['type']].flat().find((each) => each !== 'null')
    if (depth > maxDepth || fields > maxFields) return null
    if (type === 'array' || whole['items'] !== undefined) return [sample(whole['items'], name, depth + 1)]
    if (type === 'object' || whole['properties'] !== undefined) {
      const properties = Object.entries(record(whole['properties']))
      fields += properties.length
      return Object.fromEntries(properties.map(([key, inner]) => [key, sample(inner, key, depth + 1)]))
    }
    return scalar(whole, type, name)
  }

  return sample(schema, '', 0)
}

function merged(one: Fields, other: Fields): Fields {
  return { ...other, ...one, properties: { ...record(other['properties']), ...record(one['properties']) } }
}

/** As an answer in the middle of many pages would say it. */
function scalar(schema: Fields, type: unknown, name: string): unknown {
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') {
    if (/page_?count|total_?pages|last_?page|^pages$/i.test(name)) return 10
    if (/total|count/i.test(name)) return 1_000
    return /^(offset|skip|start)$/i.test(name) ? 0 : 1
  }
  const isAddress = schema['format'] === 'uri' || schema['format'] === 'url'
  if (isAddress || (/^(next|href)$|link|url$/i.test(name) && !isRecord(schema))) return 'https://api.example/next'
  return /^(next|next_?link|next_?(page_?)?url|href)$/i.test(name) ? 'https://api.example/next' : 'x'
}
