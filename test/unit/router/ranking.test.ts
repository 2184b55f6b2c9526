import { expect, test } from 'vitest'
import { readConstants } from '../../../server/router/learned/router-constants.ts'
import { lexicalEncoder } from '../../../server/router/encoder/encoder.ts'
import { readTokenizer } from '../../../server/router/encoder/tokenizer.ts'
import { buildIndex, type RoutableProject } from '../../../server/router/index.ts'
import { rank } from '../../../server/router/ranking/confidence.ts'
import { gather, type Evidence } from '../../../server/router/ranking/evidence.ts'
import { rowOf } from '../../../server/router/vectors/vectors.ts'
import { read } from '../../../server/router/route.ts'

const clock = { now: new Date('2025-06-15T10:00:00Z'), timeZone: 'UTC' }
const tokenizer = await readTokenizer('models/question-encoder/tokenizer.json')
const constants = await readConstants('models/question-encoder/router_constants.json')
const encoder = lexicalEncoder({ tokenizer, constants }, 'by choice')

const region = { type: 'string' as const, enum: ['north', 'south'] }
const things = 'orders shops parcels invoices refunds drivers routes cars bills tickets'.split(' ')
const asked = 'late open lost new'.split(' ')
const queries: RoutableProject['queries'] = things.flatMap((thing) =>
  asked.map((how) => ({
    name: `${how}_${thing}`,
    description: `The ${how} ${thing} of a region`,
    slots: { properties: { region }, required: ['region'] },
    examples: [
      { question: `which ${thing} are ${how} in the north`, parameters: { region: 'north' } },
      { question: `${how} ${thing} south`, parameters: { region: 'south' } },
    ],
  })),
)
const anywhere = {
  name: 'late_orders_anywhere',
  description: 'The late orders of all regions',
  slots: { properties: {} },
  examples: [{ question: 'which orders are late anywhere', parameters: {} }],
}
const index = await buildIndex(encoder, { queries: [...queries, anywhere], values: {} })
const nameOf = (query: number): string | undefined => index.queries[query]?.query.name

/** An example as a question of its own. */
function exampleOf(name: string): { text: number; query: number; evidence: Evidence } {
  const query = index.queries.findIndex((each) => each.query.name === name)
  const text = index.texts.findIndex((each) => each.query === query && each.kind === 'example')
  const own = index.texts[text]
  if (own === undefined) throw new Error(`${name} has no example.`)
  const { linked, shape } = own
  const [raw, masked] = [rowOf(index.raw, text), rowOf(index.masked, text)]
  return { text, query, evidence: gather(index, { linked, shape, raw, masked }) }
}

test('of many queries 32 are compared closely, with the one that is meant among them', async () => {
  for (const name of ['lost_cars', 'late_orders', 'new_tickets']) {
    const [how, thing] = name.split('_')
    const ranked = rank(index, await read(index, `${how} ${thing} in the south please`, clock))
    expect(ranked).toHaveLength(32)
    expect(nameOf(ranked[0]?.candidate.query ?? -1)).toBe(name)
  }
})

test('an example that is left out does not speak for its query; the others of the query do', () => {
  const { text, query, evidence } = exampleOf('open_shops')
  const [whole, left] = [{}, { text }].map((without) =>
    rank(index, evidence, without).find(({ candidate }) => candidate.query === query),
  )
  expect(whole?.candidate.features.cosMasked).toBeCloseTo(1, 3)
  expect(left?.candidate.features.cosMasked).toBeLessThan(0.99)
  expect(left?.candidate.bestText).not.toBe(text)
  expect(left?.score).toBeLessThan(whole?.score ?? -Infinity)
})

test('a query that is left out is not ranked, and leaves its place to another', () => {
  const { query, evidence } = exampleOf('open_shops')
  const ranked = rank(index, evidence, { query })
  expect(ranked).toHaveLength(32)
  expect(ranked.map(({ candidate }) => candidate.query)).not.toContain(query)
})

test('a query whose slots are exactly the values of the question is told from one with too few or too many', async () => {
  const signatures = async (question: string) => {
    const ranked = rank(index, await read(index, question, clock))
    return ['late_orders', 'late_orders_anywhere'].map((name) => {
      const features = ranked.find(({ candidate }) => nameOf(candidate.query) === name)?.candidate.features
      return [features?.exactSignature, features?.slotsMissing, features?.spansUnused]
    })
  }
  expect(await signatures('which orders are late in the north')).toEqual([
    [1, 0, 0],
    [0, 0, 1],
  ])
  expect(await signatures('which orders are late')).toEqual([
    [0, 1, 0],
    [1, 0, 0],
  ])
})
