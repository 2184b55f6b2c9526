import type MiniSearch from 'minisearch'
import type { SearchResult } from 'minisearch'

/** A page of `docs/`, made when the app is built: what the browser gets is ready to be shown. */
export type Guide = { title: string; headings: GuideHeading[]; parts: GuidePart[] }
export type GuideHeading = { id: string; text: string; depth: number }
/** Code is apart from the text around it, because it comes with a button. An answer is what the code before it prints. */
export type GuidePart = { html: string } | { code: string; isAnswer: boolean }
/** A hit of the search: the text under one heading, and words that people call it by, which nobody sees. */
export type GuideSection = { id: string; title: string; heading: string; text: string; words: string }

/** The same when the index is made and when it is asked. */
export const searchOptions = {
  fields: ['title', 'heading', 'text', 'words'],
  storeFields: ['title', 'heading', 'text'],
}

/** Words of questions that say nothing of their subject. */
const idle = new Set(
  'a an and are can could do does for from get have how i if in is it me my of on or our please should that the there this to use want we what when where which who why with you your'.split(
    ' ',
  ),
)

/** Sections that hold all of the words come first; where there are none, those that hold some. */
export function searchGuides(index: MiniSearch<GuideSection>, sought: string): SearchResult[] {
  const all = sought.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? []
  const telling = all.filter((word) => !idle.has(word))
  const words = (telling.length === 0 ? all : telling).join(' ')
  const options = {
    prefix: (term: string) => term.length > 2,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    boost: { title: 3, heading: 3, words: 4 },
  }
  const found = index.search(words, { ...options, combineWith: 'AND' })
  return found.length > 0 ? found : index.search(words, { ...options, combineWith: 'OR' })
}
