import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEncoder, type Encoder, type RoutableProject, type RoutableQuery } from '../../../server/router/index.ts'
import { cardOf, inputOf, withMarks, type Bound } from '../../../server/router/project/card.ts'
import { allowanceFor, isUnderstood } from '../../../server/router/reader/guard.ts'
import type { Reader } from '../../../server/router/encoder/reader.ts'
import { unexpressedIn } from '../../../server/router/reader/unexpressed.ts'

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

/** Logits of a project's own examples, so many of them wrong. */
function withWrong(count: number, of: number): number[] {
  const { match_below: limit } = reader.constants.guard
  return Array.from({ length: of }, (_, at) => (at < count ? limit - 1 : limit + 1))
}

test('a project is understood where its own examples say so, and misread where more look wrong than chance would give', () => {
  const { constants } = reader
  const isUnderstoodWith = (count: number, of: number): boolean => isUnderstood(constants, withWrong(count, of))
  // One of twenty is usual: of 120 chance gives 12 or more once in fifty times.
  expect(isUnderstoodWith(11, 120)).toBe(true)
  expect(isUnderstoodWith(13, 120)).toBe(false)
  // The same share of a few says less.
  expect(isUnderstoodWith(3, 20)).toBe(true)
  expect(isUnderstoodWith(18, 120)).toBe(false)
  expect(isUnderstoodWith(3, 6)).toBe(false)
  expect(isUnderstoodWith(120, 120)).toBe(false)
  const { least_examples: least } = constants.guard
  expect(isUnderstoodWith(0, least)).toBe(true)
  expect(isUnderstoodWith(0, least - 1)).toBe(false)
})

test('what the reader says against a query weighs less where it misreads more than usual', () => {
  const allowance = (count: number, of: number): number =>
    allowanceFor(reader.constants, encoder.constants, withWrong(count, of))
  expect(allowance(0, 30)).toBe(0)
  expect(allowance(1, 20)).toBe(0)
  expect(allowance(3, 16)).toBeGreaterThan(0)
  expect(allowance(11, 120)).toBeGreaterThan(allowance(8, 120))
  // Twice as often as usual: a query that it finds wrong is right with twice the odds.
  const odds = Math.exp(allowance(5, 40) * encoder.constants.share.read.weights.matchLow)
  expect(odds).toBeCloseTo(2, 6)
})
