import type { Pagination } from '../../shared/wire.ts'

/** The ways to further pages, each as it begins. */
export const paginations: Array<{ value: string; label: string; first: Pagination | null }> = [
  { value: 'none', label: 'All in one answer', first: null },
  { value: 'link_header', label: 'Link header', first: { type: 'link_header', max_pages: 1_000 } },
  {
    value: 'next_link',
    label: 'Address of the next page',
    first: { type: 'next_link', path: 'next', max_pages: 1_000 },
  },
  {
    value: 'cursor',
    label: 'Cursor',
    first: { type: 'cursor', path: 'next_cursor', from: 'body', parameter: 'cursor', in: 'query', max_pages: 1_000 },
  },
  {
    value: 'offset',
    label: 'Offset and limit',
    first: { type: 'offset', parameter: 'offset', limit_parameter: 'limit', limit: 100, in: 'query', max_pages: 1_000 },
  },
  {
    value: 'page',
    label: 'Page number',
    first: { type: 'page', parameter: 'page', first: 1, in: 'query', max_pages: 1_000 },
  },
]

/** A way that says only what matters, with everything else as it usually is. */
export function completed(part: Partial<Pagination>): Pagination | null {
  const usual = paginations.find(({ value }) => value === part.type)?.first
  return usual === undefined || usual === null ? null : ({ ...usual, ...part } as Pagination)
}
