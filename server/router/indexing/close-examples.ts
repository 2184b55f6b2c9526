import { leader, nearestTo } from './reask-examples.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import { yieldToEventLoop } from '../../flow/index.ts'

/** An example that two queries come close to. */
export type CloseExample = {
  question: string
  /** Whose example it is. */
  query: string
  /** The query that comes as near, or nearer. */
  rival: string
}

/** Nearer than this the next word that is said otherwise may turn it over. */
const closeMargin = 1

/**
 * Examples of others that a query comes close to, and its own that others do. Each is asked as if it were not there: an
 * example always finds itself.
 */
export async function closeExamples(index: ProjectIndex, name: string, maxShown: number): Promise<CloseExample[]> {
  const close: CloseExample[] = []
  for (const text of await nearestTo(index, name)) {
    if (close.length >= maxShown) break
    const own = index.texts[text]
    const query = index.queries[own?.query ?? -1]?.query.name
    if (own === undefined || query === undefined) continue
    const first = leader(index, text, { text }, closeMargin)
    const rival = first.name === query ? first.tied : first.name
    const isAbout = query === name ? rival !== null : rival === name
    if (isAbout && rival !== null) close.push({ question: own.text, query, rival })
    await yieldToEventLoop()
  }
  return close
}
