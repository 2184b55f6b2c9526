import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Tools that every server of this kind offers beside the queries. */
export const ownTools = ['ask', 'list_queries', 'call_query'] as const

/** The strictest clients take 64 letters, digits, `_` and `-`. */
const maxChars = 64
const markChars = 8

/**
 * The name of a query as a tool. It depends on the query, its project and on whether the client sees one project or
 * several, never on what else is deployed: a name that a client has learned stays good. Names of queries hold no `-`,
 * so what is added after one cannot be taken for a part of it.
 */
export function toolName(query: string, projectId: string, seesOne: boolean): string {
  if (seesOne) return ownTools.some((name) => name === query) ? `query-${query}` : query
  const mark = markOf(projectId)
  const whole = `${query}-${mark}`
  if (whole.length <= maxChars) return whole
  return `${query.slice(0, maxChars - 2 * (markChars + 1))}-${markOf(query)}-${mark}`
}

const marks = new LRUCache<string, string>({ max: 10_000 })

function markOf(text: string): string {
  const known = marks.get(text)
  if (known !== undefined) return known
  const mark = createHash('sha256').update(text).digest('hex').slice(0, markChars)
  marks.set(text, mark)
  return mark
}
