const excerptLength = 120

/** The words around the first place where a text says one of the terms; its beginning where it says none. */
export function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase()
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0)
  const first = places.length === 0 ? 0 : Math.min(...places)
  const from = first < excerptLength / 2 ? 0 : text.lastIndexOf(' ', first - excerptLength / 3) + 1
  const end = text.length - from <= excerptLength ? text.length : text.lastIndexOf(' ', from + excerptLength)
  return `${from > 0 ? '… ' : ''}${text.slice(from, end > from ? end : from + excerptLength)}${end < text.length ? ' …' : ''}`
}
