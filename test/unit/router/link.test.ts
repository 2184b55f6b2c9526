import { expect, test } from 'vitest'
import { link } from '../../../server/language/link.ts'
import { shape } from '../../../server/language/mask.ts'
import { readConstants } from '../../../server/router/learned/router-constants.ts'
import { lexicalEncoder } from '../../../server/router/encoder/encoder.ts'
import { readTokenizer } from '../../../server/router/encoder/tokenizer.ts'
import { buildIndex, route, type RoutableProject } from '../../../server/router/index.ts'
import { hostileQuestions, unanswerable } from '../../harness/hostile-questions.ts'
import { spentMs } from '../../harness/processor-time.ts'

const clock = { now: new Date('2025-06-15T10:00:00Z'), timeZone: 'UTC' }
const tokenizer = await readTokenizer('models/question-encoder/tokenizer.json')
const constants = await readConstants('models/question-encoder/router_constants.json')
const string = { type: 'string' } as const

const project: RoutableProject = {
  values: {
    'rivers.name': ['Colorado', 'Rio Grande', 'Ohio'],
    'states.name': ['Colorado', 'Ohio', 'New York', 'New York City', 'South Dakota'],
    'bands.title': ['The Where', 'List', 'Colorado River', ...Array.from({ length: 40 }, (_, at) => `Band ${at}`)],
  },
  queries: [
    {
      name: 'river_length',
      description: 'how long is the <river name> river',
      slots: { properties: { river: { ...string, 'x-values-from': 'rivers.name' } }, required: ['river'] },
      examples: [{ question: 'length of the Rio Grande river', parameters: { river: 'Rio Grande' } }],
    },
    {
      name: 'state_capital',
      description: 'capital of <state name>',
      slots: { properties: { state: { ...string, 'x-values-from': 'states.name' } }, required: ['state'] },
      examples: [{ question: 'list the capital of Ohio', parameters: { state: 'Ohio' } }],
    },
    {
      name: 'band_members',
      description: 'list the members of a band',
      slots: { properties: { band: { ...string, 'x-values-from': 'bands.title' } }, required: ['band'] },
      examples: [],
    },
    {
      name: 'grades',
      description: 'students with a grade',
      slots: { properties: { grade: { ...string, enum: ['A', 'A-', 'B+', 'B'] } }, required: ['grade'] },
      examples: [],
    },
  ],
}
const index = await buildIndex(lexicalEncoder({ tokenizer, constants }, 'by choice'), project)

const masked = (text: string): string => shape(link(index.linker, text, clock), index.contexts).masked
const values = (text: string): unknown[] =>
  shape(link(index.linker, text, clock), index.contexts).marks.map(
    ({ span, type }) => span.readings.find((reading) => reading.type.key === type.key)?.value,
  )

test('a value is masked by its type, read from the words around it', () => {
  expect(masked('how long is the colorado river')).toBe('how long is the <river name> river')
  expect(masked('what is the capital of colorado')).toBe('what is the capital of <state name>')
})

test('the longest value wins over the values inside it', () => {
  expect(values('capital of new york city')).toEqual(['New York City'])
  expect(values('capital of new york')).toEqual(['New York'])
})

test('case, diacritics, plurals and one wrong letter still find the value', () => {
  expect(values('capital of SOUTH DAKOTA')).toEqual(['South Dakota'])
  expect(values('capital of söuth dakota')).toEqual(['South Dakota'])
  expect(values('capital of south dakotas')).toEqual(['South Dakota'])
  expect(values('capital of south dakotta')).toEqual(['South Dakota'])
})

test('what people say for a value of a column gives the value as the column holds it, from whichever slot says so', async () => {
  const codes = (name: string, synonyms: Record<string, string[]>): RoutableProject['queries'][number] => ({
    name,
    description: `${name} of a state`,
    slots: {
      properties: { state: { ...string, 'x-values-from': 'states.code', 'x-synonyms': synonyms } },
      required: ['state'],
    },
    examples: [],
  })
  const coded = await buildIndex(lexicalEncoder({ tokenizer, constants }, 'by choice'), {
    values: { 'states.code': ['CA', 'NY', 'OR'] },
    queries: [codes('sales', { CA: ['california'] }), codes('shops', { NY: ['new york', 'the empire state'] })],
  })
  const found = (text: string): unknown[] =>
    link(coded.linker, text, clock).spans.flatMap(({ readings }) => readings.map(({ value }) => value))
  expect(found('sales of California')).toEqual(['CA'])
  expect(found('sales in CA')).toEqual(['CA'])
  expect(found('shops in the empire state')).toEqual(['NY'])
  expect(found('shops in califronia')).toEqual(['CA'])
})

test('a value of a long list that is an ordinary word is not masked', () => {
  expect(masked('list the capital of ohio')).toBe('list the capital of <state name>')
})

test('signs belong to a value that is written with them', () => {
  expect(values('students with a B+')).toEqual(['B+'])
  expect(values('students with a B')).toEqual(['B'])
  expect(values('students with an A-')).toEqual(['A-'])
})

test('a text of many values is masked many times, but each is weighed once for what stands around it', async () => {
  const counts = new Map(index.contexts.all.counts)
  let lookups = 0
  const get = counts.get.bind(counts)
  counts.get = (key) => {
    lookups += 1
    return get(key)
  }
  const contexts = { ...index.contexts, all: { ...index.contexts.all, counts } }
  await route({ ...index, contexts }, 'ohio '.repeat(400), clock)
  // Three lookups for each of 24 spans, 2 readings and less than 10 neighbourhoods; the square of the spans without.
  expect(lookups).toBeLessThan(3 * 24 * 2 * 10)
})

test('a placeholder in a description stands for the slot it names', () => {
  const [description] = index.texts
  expect(description?.roles).toEqual([{ slot: 'river', mark: 0 }])
  expect(description?.shape.tokens).toEqual(['how', 'long', 'is', 'the', '<river name>', 'river'])
})

test.each([...hostileQuestions, ...unanswerable.map(([, question]) => question), 'ohio '.repeat(400)])(
  '%j gives few words and few spans: its time is bounded',
  (text) => {
    const linked = link(index.linker, text, clock)
    expect(linked.words.length).toBeLessThanOrEqual(64)
    expect(linked.spans.length).toBeLessThanOrEqual(24)
    expect(linked.weak.length).toBeLessThanOrEqual(24)
  },
)

test('no question makes the pattern of a slot take long', async () => {
  const code = { ...string, pattern: '^([a-z]+-?)+$' }
  const coded = await buildIndex(lexicalEncoder({ tokenizer, constants }, 'by choice'), {
    values: {},
    queries: [
      {
        name: 'order_by_code',
        description: 'the order with a code',
        slots: { properties: { code }, required: ['code'] },
        examples: [{ question: 'find the order with code "ab-c"', parameters: { code: 'ab-c' } }],
      },
    ],
  })
  const found = (text: string): unknown => link(coded.linker, text, clock).spans[0]?.readings[0]?.value
  expect(found('find the order with code "xy-z" please')).toBe('xy-z')
  const startedMs = spentMs()
  expect(found(`find the order with code "${'a'.repeat(28)}!" please`)).toBeUndefined()
  expect(spentMs() - startedMs).toBeLessThan(1_000)
})
