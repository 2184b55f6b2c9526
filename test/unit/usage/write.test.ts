import { expect, test } from 'vitest'
import type { CallRow } from '../../../server/usage/call.ts'
import { copyLine } from '../../../server/usage/write.ts'

const call: CallRow = {
  at: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  id: 'req_1',
  project_id: 'prj_1',
  environment: 'production',
  query: 'sales',
  version: 3,
  entry: 'question',
  key_id: 'key_1',
  status: 200,
  error: null,
  reason: null,
  total_ms: 1.5,
  route_ms: 0.25,
  queue_ms: 0,
  sql_ms: 1e-7,
  rows: 12,
  bytes: 345,
  cache: 'hit',
  question: null,
  confidence: 0.9,
}

test('a call is a line of COPY', () => {
  expect(copyLine(call)).toBe(
    '2026-01-02T03:04:05.006Z\treq_1\tprj_1\tproduction\tsales\t3\tquestion\tkey_1\t200\t\\N\t\\N\t1.5\t0.25\t0\t1e-7\t12\t345\thit\t\\N\t0.9\n',
  )
})

test('what people write cannot break out of its column', () => {
  const question = 'tab\there\nline\r\n\\N \\. back\\slash'
  const line = copyLine({ ...call, question })
  expect(line.slice(0, -1)).not.toMatch(/[\n\r]/)
  expect(line.split('\t')).toHaveLength(20)
  expect(line).toContain('tab\\there\\nline\\r\\n\\\\N \\\\. back\\\\slash')
})
