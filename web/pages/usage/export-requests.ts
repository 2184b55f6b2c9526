import { call } from '../../client/api.ts'
import { csvRecord } from '../../../api/csv.ts'
import { csvValue } from '../../parts/cells/copy-text.ts'
import { saveFile } from '../../browser/save-file.ts'
import type { Page } from '../../client/wire.ts'
import type { RequestEntry } from '../deploy/shared/usage-wire.ts'

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
  saveFile('requests.csv', new Blob([csvOf(found)], { type: 'text/csv' }))
  return { count: found.length, isCut: cursor !== null }
}

export function csvOf(calls: RequestEntry[]): string {
  return [columns, ...calls.map((each) => columns.map((name) => csvValue(each[name])))].map(csvRecord).join('')
}
