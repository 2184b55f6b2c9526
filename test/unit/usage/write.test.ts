import { expect, test } from 'vitest'
import { beginBatch, joinBatch } from '../../../server/usage/stored/batches.ts'
import { callKindOf, type QueryAnswered } from '../../../server/usage/stored/call.ts'
import { copyLine } from '../../../server/usage/record/write.ts'
import { call } from './sample-call.ts'

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6)

function begin(event: QueryAnswered) {
  const kind = callKindOf(event)
  if (kind === undefined) throw new Error('nobody called')
  return beginBatch(kind, event, at)
}

test('a call is a line of COPY', () => {
  expect(copyLine(begin(call))).toBe(
    '2026-01-02T03:04:05.006Z\tprj_1\tproduction\tsales\t3\tdirect\tkey_1\t200\t\\N\t\\N\thit\t{req_1}\t{0}\t{1500}\t{0}\t{12}\t{345}\t\\N\t\\N\t\\N\n',
  )
})

test('what people write cannot break out of its column', () => {
  const text = 'tab\there\nline\r\n\\N \\. back\\slash \0 \uD800'
  const line = copyLine(begin({ ...call, entry: 'question', question: { text, confidence: 0.5 }, routeMs: 2 }))
  expect(line.slice(0, -1)).not.toMatch(/[\n\r\0]/)
  expect(line.split('\t')).toHaveLength(20)
  expect(line).toContain('\t2000\ttab\\there\\nline\\r\\n\\\\N \\\\. back\\\\slash   \uFFFD\t0.5\n')
})

test('calls of a second are one batch, in which what all have in common is said once', () => {
  const batch = begin(call)
  expect(joinBatch(batch, { ...call, requestId: 'req_2' }, at)).toBe(true)
  expect(joinBatch(batch, { ...call, requestId: 'req_3', totalMs: 2 }, at + 7)).toBe(true)
  expect(joinBatch(batch, { ...call, requestId: 'req_4', totalMs: 2, rows: 13 }, at + 999)).toBe(true)
  expect(batch).toMatchObject({
    ids: ['req_1', 'req_2', 'req_3', 'req_4'],
    afterMs: [0, 0, 7, 999],
    totalUs: [1500, 1500, 2000, 2000],
    sqlUs: [0],
    rows: [12, 12, 12, 13],
    bytes: [345],
  })
})

test.each([
  ['a second later', { ...call }, at + 1_000],
  ['before it, as the clock was set back', { ...call }, at - 1],
  ['with words of its own', { ...call, question: { text: 'How many?', confidence: 1 } }, at],
  ['that was routed', { ...call, routeMs: 1 }, at],
])('a call %s is another batch', (_, event, moment) => {
  expect(joinBatch(begin(call), event, moment)).toBe(false)
})

test('a batch is no longer than a page of the log can look into', () => {
  const batch = begin(call)
  let joined = 1
  while (joinBatch(batch, call, at)) joined += 1
  expect(joined).toBe(500)
  expect(batch.ids).toHaveLength(500)
})
