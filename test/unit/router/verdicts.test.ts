import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verdictMeanings, verdictNames, type VerdictName } from '../../../api/verdicts.ts'
import type { Candidate } from '../../../server/router/decision/candidate.ts'
import { reachVerdict, rows, type Case } from '../../../server/router/decision/verdicts.ts'
import { buildIndex, type Encoder, type ProjectIndex, type RoutableProject } from '../../../server/router/index.ts'
import { slotsOf } from '../../../server/router/project/project.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'

const slots = { properties: { depot: { type: 'string' } } } as const
const yard: RoutableProject = {
  values: {},
  queries: [
    { name: 'lorries', description: 'Every lorry of the yard', slots, examples: [] },
    { name: 'drivers', description: 'Drivers and their licences', slots, examples: [] },
    { name: 'jobs', description: 'Repair jobs of a depot', slots: { ...slots, required: ['depot'] }, examples: [] },
  ],
}
const [lorries, drivers, jobs] = [0, 1, 2]
const clock = { now: new Date('2026-03-09T10:00:00Z'), timeZone: 'UTC' }

let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  encoder = await openSharedEncoder({
    modelDir: 'models/question-encoder',
    readerDir: 'models/question-reader',
    threads: 2,
  })
  index = await buildIndex(encoder, yard)
})
afterAll(() => encoder.close())

test('the guide on scoring lists the verdicts in their order, with what they mean', () => {
  const guide = readFileSync('docs/questions-scoring.md', 'utf8')
  const listed = [...guide.matchAll(/^\| `(\w+)` +\| (.*?) +\| .+ \|$/gm)].map(([, name, meaning]) => [name, meaning])
  expect(listed).toEqual(Object.entries(verdictMeanings))
  expect(Object.keys(rows)).toEqual(verdictNames)
})

type Evidence = Partial<Omit<Candidate, 'reading'>> & { score?: number; match?: number }

/** A candidate for which everything speaks but what is said. */
function candidate(at: number, { score = 10 - at * 5, match, ...evidence }: Evidence): Candidate {
  const query = index.queries[at]
  if (query === undefined) throw new Error('The yard has more queries.')
  const left = [{ start: 0, end: 5, text: 'which', kind: 'condition' as const }]
  return {
    placed: { candidate: { query: at, bestText: query.from }, score },
    query,
    filled: { parameters: {}, sources: {}, missing: [], unused: [], gaps: [], doubts: [], period: null },
    lack: 0,
    objection: null,
    reported: null,
    isMeant: false,
    isOwn: false,
    reading: match === undefined ? null : { match, unexpressed: () => left },
    ...evidence,
  }
}

const doubt = {
  rule: 'unknown value' as const,
  slot: 'depot',
  message: 'has no such value',
  isOpposed: false,
  isSure: false,
  start: 0,
  end: 5,
}
const doubted = { parameters: {}, sources: {}, missing: [], unused: [], gaps: [], doubts: [doubt], period: null }

type Given = { at?: number; by?: Case['by']; lead?: number | null; best?: Evidence; next?: Evidence; least?: number }

/** Decides between two queries. */
function verdictOf({
  at = lorries,
  by = 'reader',
  lead = 3,
  best = {},
  next = {},
  least = 0,
}: Given): [VerdictName | null, string] {
  const the: Case = {
    text: 'which lorries are there',
    options: clock,
    by,
    candidates: [candidate(at, { score: 10, ...best }), candidate(drivers, { score: 5, ...next })],
    lead,
  }
  const { outcome, explanation } = reachVerdict({ ...index, leastConfidence: least }, the)
  return [explanation.verdict, outcome]
}

describe('the first verdict that holds ends the question', () => {
  test.each<[VerdictName, string, Given]>([
    ['own_wording', 'answer', { best: { isOwn: true } }],
    ['own_wording', 'answer', { best: { isMeant: true } }],
    ['little_in_common', 'no_match', { by: 'router', lead: -0.1, best: { objection: 'It is the other end.' } }],
    ['opposed', 'no_match', { best: { objection: 'It is the other end.', match: 6 } }],
    ['opposed', 'no_match', { best: { isOwn: true, reported: 'It was reported.', match: 6 } }],
    ['tied', 'ambiguous', { by: 'router', next: { score: 9.9 } }],
    ['missing_value', 'missing_slots', { at: jobs, best: { match: 6 } }],
    ['doubted_value', 'missing_slots', { best: { match: 6, filled: doubted } }],
    [
      'nearest_opposed',
      'no_match',
      { lead: -6, best: { objection: 'It is the other end.', match: -8 }, next: { match: -4, score: 8 } },
    ],
    ['far', 'no_match', { lead: -3, best: { match: -6 } }],
    ['left_out', 'unexpressed', { best: { match: -8 } }],
    ['unsure', 'unsure', { best: { match: 6 }, least: 0.999 }],
    ['tied_when_read', 'ambiguous', { best: { match: 6 }, next: { match: 5.5, score: 9.9 } }],
    ['may_leave_out', 'answer', { best: { match: -1 } }],
    ['whole', 'answer', { best: { match: 6 }, next: { match: -2 } }],
    ['whole', 'answer', { by: 'router' }],
    ['whole', 'answer', { by: 'caller', lead: null, best: { objection: 'It is the other end.' } }],
  ])('%s: %s', (verdict, outcome, given) => {
    expect(verdictOf(given)).toEqual([verdict, outcome])
  })
})

test('a query that would lose a part of the period is none that answers, however sure', () => {
  const slots = [{ type: 'string' as const, format: 'date' as const }]
  const lossy = {
    side: 'end' as const,
    bound: 'inclusive' as const,
    shiftDays: 0,
    isUtcDay: false,
    loses: 'loses a day',
  }
  const [until] = slotsOf({
    name: 'late',
    description: 'Late jobs',
    examples: [],
    slots: { properties: { until: slots[0] as (typeof slots)[number] } },
    bounds: { until: lossy },
  })
  const known = candidate(lorries, { match: 6 })
  if (until === undefined) throw new Error('The query has a slot.')
  const source = { start: 0, end: 5, text: 'which' }
  const filled = { ...known.filled, parameters: { until: '2026-01-01' }, sources: { until: source } }
  const best = { ...known, query: { ...known.query, slots: [until] }, filled }
  const the: Case = { text: 'x', options: clock, by: 'reader', candidates: [best], lead: 3 }
  expect(reachVerdict(index, the)).toMatchObject({
    outcome: 'period_end',
    slot: 'until',
    explanation: { verdict: 'period_end' },
  })
  const given = { ...clock, given: { until: '2026-01-01' } }
  expect(reachVerdict(index, { ...the, options: given }).outcome).toBe('answer')
})

test('the opposite of the question is passed over where another query lies near', () => {
  const given = { by: 'router' as const, best: { objection: 'It is the other end.' }, next: { score: 9 } }
  expect(verdictOf(given)).toEqual(['whole', 'answer'])
})

test('a verdict that a benchmark switches off is passed over', () => {
  const off = { ...index, rulesOff: new Set(['opposed'] as const) }
  const opposed = candidate(0, { objection: 'It is the other end.', isOwn: false })
  const the: Case = { text: 'x', options: clock, by: 'router', candidates: [opposed], lead: 3 }
  expect(reachVerdict(index, the).explanation.verdict).toBe('opposed')
  expect(reachVerdict(off, the).explanation.verdict).not.toBe('opposed')
})
