import { call } from '../../api.ts'
import type { Page } from '../../wire.ts'
import type { RequestEntry } from './usage-wire.ts'

/** Beyond this a file is no longer looked at by people; the API has it all. */
const mostCalls = 10_000
const pageSize = 200

const columns = [
  'id',
  'at',
  'environment',
  'query',
  'version',
  'entry',
  'key_id',
  'status',
  'error',
  'reason',
  'total_ms',
  'route_ms',
  'queue_ms',
  'sql_ms',
  'rows',
  'bytes',
  'cache',
  'question',
  'confidence',
] as const satisfies ReadonlyArray<keyof RequestEntry>

/** The calls that are looked at as a file of CSV, the newest first. */
export async function exportRequests(projectId: string, search: string): Promise<{ count: number; isCut: boolean }> {
  const found: RequestEntry[] = []
  let cursor: string | null = ''
  while (cursor !== null && found.length < mostCalls) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const path = `/v1/projects/${projectId}/requests?${search}&limit=${pageSize}${more}`
    const page: Page<RequestEntry> = await call<Page<RequestEntry>>('GET', path)
    found.push(...page.data)
    cursor = page.next_cursor
  }
  save('requests.csv', csvOf(found))
  return { count: found.length, isCut: cursor !== null }
}

export function csvOf(calls: RequestEntry[]): string {
  const lines = calls.map((each) => columns.map((name) => csvValue(each[name])).join(','))
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`
}

/** A spreadsheet would run what begins like a formula; an apostrophe before it is shown by none. */
function csvValue(value: string | number | null): string {
  if (value === null) return ''
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  URL.revokeObjectURL(address)
}
