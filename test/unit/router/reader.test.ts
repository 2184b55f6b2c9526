import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  buildIndex,
  openEncoder,
  route,
  type Encoder,
  type RoutableProject,
  type RoutableQuery,
} from '../../../server/router/index.ts'
import { cardOf, inputOf, withMarks, type Bound } from '../../../server/router/project/card.ts'
import { trustIn, type OwnResults } from '../../../server/router/decision/guard.ts'
import type { Reader } from '../../../server/router/encoder/reader.ts'
import { unexpressedIn } from '../../../server/router/reader/read-whole.ts'

type Check = {
  question: string
  query: RoutableQuery
  values: RoutableProject['values']
  bound: Array<[start: number, end: number, slot: string]>
  input_ids: number[]
  question_ids: number
  question_tokens: Array<[at: number, start: number, end: number]>
  match: number
  unexpressed: number[]
}

// Pairs with the token ids and logits of the training code.
const checks = JSON.parse(await readFile('models/question-reader/check.json', 'utf8')) as Check[]
let encoder: Encoder
let reader: Reader
beforeAll(async () => {
  encoder = await openEncoder({ modelDir: 'models/question-encoder', readerDir: 'models/question-reader', threads: 1 })
  if (encoder.reader === null) throw new Error('The reader runs beside the encoder.')
  reader = encoder.reader
})
afterAll(async () => {
  await encoder.close()
})

test.each(checks)('$question is read of $query.name as in training', async (check) => {
  const card = cardOf(reader, check.query, check.values)
  const bound = check.bound.map(([start, end, slot]): Bound => ({ start, end, slot }))
  const pieces = reader.tokenizer.pieces(check.question)
  const question = withMarks(reader.constants, pieces, { bound, places: card.places })
  const input = inputOf(reader.constants, question, card)
  expect(input).toEqual({ ids: check.input_ids, questionTokens: check.question_ids })
  const places = question.flatMap(({ place }, at) => (place === null ? [] : [[at + 1, place.start, place.end]]))
  expect(places).toEqual(check.question_tokens)
  const [match, ...logits] = await reader.score(input)
  expect(Math.abs((match ?? NaN) - check.match)).toBeLessThan(0.2)
  for (const [at, [token]] of check.question_tokens.entries()) {
    expect(Math.abs((logits[token - 1] ?? NaN) - (check.unexpressed[at] ?? NaN))).toBeLessThan(0.2)
  }
})

test('whole words are told, neighbours together; where none stands out, the one that does most', () => {
  const text = 'leaks in Eastbrook repaired by Crew Zulu'
  const places = [
    { start: 0, end: 5, logit: -7 },
    { start: 31, end: 35, logit: 3 },
    { start: 36, end: 40, logit: 1 },
  ]
  expect(unexpressedIn(text, places, 0)).toEqual([{ start: 31, end: 40, text: 'Crew Zulu', kind: 'entity' }])
  expect(unexpressedIn(text, places, 5)).toMatchObject([{ text: 'Crew' }])
})

test.each([
  ['leaks in May plus what they cost', 'plus what they cost', 'second_question'],
  ['cancel the booking of Ada', 'cancel', 'command'],
  ['orders that are not paid', 'not paid', 'negation'],
  ['the smallest orders', 'smallest', 'order'],
  ['revenue per weekday', 'per weekday', 'grain'],
  ['the average price of a room', 'average', 'measure'],
  ['leaks found in Springfield', 'Springfield', 'entity'],
  ['reservations with a pet', 'with a pet', 'condition'],
])('in %j the words %j are a %s', (text, said, kind) => {
  const start = text.indexOf(said)
  const places = [{ start, end: start + said.length, logit: 1 }]
  expect(unexpressedIn(text, places, 0)).toEqual([{ start, end: start + said.length, text: said, kind }])
})

/** What became of a project's own questions, so many of them read as wrong. */
function tried({
  of,
  below = 0,
  gained = 0,
  lost = 0,
}: Partial<OwnResults> & { of: number; below?: number }): OwnResults {
  const { match_below: limit } = reader.constants.guard
  return {
    asked: of,
    gained,
    lost,
    logits: Array.from({ length: of }, (_, at) => (at < below ? limit - 1 : limit + 1)),
  }
}

test('the reader chooses in a project unless fewer of its own questions come out right with it', () => {
  const { constants } = reader
  const trusted = (queries: number, given: Parameters<typeof tried>[0]): string =>
    trustIn(constants, { queries, ...tried(given) })
  // Colloquial examples look wrong to it: what becomes of them counts, not how they look.
  expect(trusted(8, { of: 12, below: 7 })).toBe('chooses')
  expect(trusted(8, { of: 12, lost: 4 })).toBe('chooses')
  expect(trusted(8, { of: 12, lost: 6 })).toBe('rescues')
  expect(trusted(8, { of: 20, lost: 6, gained: 5 })).toBe('chooses')
  const { least_examples: least, most_queries: most } = constants.guard
  expect(trusted(8, { of: least })).toBe('chooses')
  expect(trusted(8, { of: least - 1 })).toBe('rescues')
  // Of larger ones it has learned nothing: one that is lost is too many, and so is more than usual that looks wrong.
  expect(trusted(most + 1, { of: 60 })).toBe('chooses')
  expect(trusted(most + 1, { of: 60, lost: 1 })).toBe('comments')
  expect(trusted(most + 1, { of: 60, lost: 1, gained: 1 })).toBe('chooses')
  expect(trusted(most + 1, { of: 60, below: 9 })).toBe('comments')
  expect(trusted(most + 1, { of: least - 1 })).toBe('comments')
})

const day = (): { type: 'string'; format: 'date' } => ({ type: 'string', format: 'date' })
const takings: RoutableProject = {
  values: {},
  queries: [
    {
      name: 'daily_takings',
      description: 'What the shop took on each day.',
      slots: { properties: {} },
      examples: [
        { question: 'takings of each day in January', parameters: {} },
        { question: 'what did we take day by day', parameters: {} },
      ],
    },
    {
      name: 'orders_between',
      description: 'Orders that came in between two days.',
      slots: { properties: { from: day(), to: day() }, required: ['from', 'to'] },
      examples: [
        { question: 'orders from 3 May 2026 to 9 May 2026', parameters: { from: '2026-05-03', to: '2026-05-09' } },
        { question: 'orders of 1 to 7 June 2026', parameters: { from: '2026-06-01', to: '2026-06-07' } },
      ],
    },
  ],
}
const clock = { now: new Date('2026-11-16T12:00:00Z'), timeZone: 'UTC' }

test('an example word for word is the own wording of its query, also where a value of it fills no slot', async () => {
  const index = await buildIndex(encoder, takings)
  expect(index.reading?.trust).toBe('chooses')
  const routing = await route(index, 'takings of each day in January', clock)
  expect(routing).toMatchObject({ outcome: 'answer', query: 'daily_takings', explanation: { verdict: 'own_wording' } })
  const other = await route(index, 'takings of each day in March', clock)
  expect(other.explanation.verdict).not.toBe('own_wording')
})

test('a project with too few own questions lets the reader answer only what the router would refuse', async () => {
  const bare = { ...takings, queries: takings.queries.map((query) => ({ ...query, examples: [] })) }
  expect((await buildIndex(encoder, bare)).reading?.trust).toBe('rescues')
  // Evaluation cases and confirmed reports are own questions, too.
  const cases = [
    { question: 'orders from 10 to 20 March 2026', query: 'orders_between' },
    { question: 'what the shop takes on each day', query: 'daily_takings' },
  ]
  const counterExamples = [{ question: 'orders by country', notQuery: 'orders_between', meantQuery: null }]
  expect((await buildIndex(encoder, { ...bare, cases, counterExamples })).reading?.trust).toBe('chooses')
})
