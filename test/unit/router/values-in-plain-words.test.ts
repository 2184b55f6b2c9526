import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  buildIndex,
  routePinned,
  type Encoder,
  type ProjectIndex,
  type RoutableProject,
} from '../../../server/router/index.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'

const clock = { now: new Date('2026-11-16T12:00:00Z'), timeZone: 'UTC' }
const day = { type: 'string', format: 'date' } as const
const yesNo = (description = '') => ({ type: 'boolean', description }) as const

/** A clinic that lends aids, as people write their first queries: names of people and things, and little else. */
const clinic: RoutableProject = {
  values: {
    'people.name': ['Dr. Helen Marsh', 'Yuki Tanabe', 'Hanna Brandt', 'Tom Okafor'],
    'branches.name': ["St. Anne's", 'Villa Margaux', 'Off-Site North', 'Old Mill'],
    'events.name': ['Open Day 2026', 'Flood Drill Valencia'],
  },
  queries: [
    {
      name: 'loans',
      description: 'Aids that were lent in a period',
      slots: {
        properties: {
          since: day,
          until: day,
          person: { type: 'string', 'x-values-from': 'people.name' } as const,
          branch: { type: 'string', 'x-values-from': 'branches.name' } as const,
          event: { type: 'string', 'x-values-from': 'events.name' } as const,
          refundable: yesNo(),
          unplanned_only: yesNo(),
          motor_only: yesNo('true = e-chairs only, otherwise all'),
        },
      },
      examples: [],
    },
    {
      name: 'bills',
      description: 'Bills by what became of them',
      slots: {
        properties: {
          state: { type: 'string' as const, enum: ['paid', 'unpaid'] },
          min_amount: { type: 'number', description: 'Least amount, in thousand euros' } as const,
          quarter: { type: 'integer', minimum: 1, maximum: 4 } as const,
          year: { type: 'integer', minimum: 2000, maximum: 2100 } as const,
        },
      },
      examples: [],
    },
    {
      name: 'device',
      description: 'One device by its number',
      slots: { properties: { number: { type: 'string', pattern: '^NV[0-9]{2,4}$' } as const } },
      examples: [],
    },
    {
      name: 'stays',
      description: 'Stays that lasted long',
      slots: { properties: { min_nights: { type: 'integer' } as const } },
      examples: [],
    },
  ],
}

let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  encoder = await openSharedEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  index = await buildIndex(encoder, clinic)
}, 60_000)
afterAll(() => encoder.close())

const may = { since: '2026-05-01', until: '2026-05-31' }

test.each([
  // A part of a name: behind a title, as an owner, in small letters, misspelled.
  ['loans', 'loans of Dr Marsh in May 2026', { ...may, person: 'Dr. Helen Marsh' }],
  ['loans', "Yuki's loans in May 2026", { ...may, person: 'Yuki Tanabe' }],
  ['loans', 'what did yuki lend in May 2026', { ...may, person: 'Yuki Tanabe' }],
  ['loans', 'loans at the flood drill valenica, May 2026', { ...may, event: 'Flood Drill Valencia' }],
  // Names as people write them.
  ['loans', 'loans at st annes in May 2026', { ...may, branch: "St. Anne's" }],
  ['loans', 'loans at Vila Margaux in May 2026', { ...may, branch: 'Villa Margaux' }],
  ['loans', 'loans at offsite north in May 2026', { ...may, branch: 'Off-Site North' }],
  ['loans', 'old mill loans that were off in May 2026', { ...may, branch: 'Old Mill' }],
  // A year inside a name is the name's.
  [
    'loans',
    'loans of Open Day 2026, 1–15 May 2026',
    { since: '2026-05-01', until: '2026-05-15', event: 'Open Day 2026' },
  ],
  // Yes or no by the root of its name, by what is denied, and by a compound of its description.
  ['loans', 'loans of May 2026 that we can refund', { ...may, refundable: true }],
  ['loans', 'loans of May 2026 that we cannot refund', { ...may, refundable: false }],
  ['loans', 'loans of May 2026 that were not planned', { ...may, unplanned_only: true }],
  ['loans', 'e-chairs lent in May 2026', { ...may, motor_only: true }],
  ['loans', 'chairs lent in May 2026', may],
  // A value that is denied is its contrary, where the list has it.
  ['bills', 'bills that nobody has not paid', { state: 'unpaid' }],
  ['bills', 'bills that are paid', { state: 'paid' }],
  ['bills', 'bills of half a million euros', { min_amount: 500 }],
  ['bills', 'bills of EUR 1.2m', { min_amount: 1_200 }],
  ['bills', 'bills of Q2 2025', { quarter: 2, year: 2025 }],
  ['bills', 'bills of the fourth quarter of 2023', { quarter: 4, year: 2023 }],
  // As a pattern writes it.
  ['device', 'what became of nv 88', { number: 'NV88' }],
  ['device', 'device NV123?', { number: 'NV123' }],
  ['stays', 'stays of 3 weeks', { min_nights: 21 }],
])('%s: %s', async (name, question, parameters) => {
  const routing = await routePinned(index, question, { name, ...clock })
  expect('parameters' in routing ? routing.parameters : routing.outcome).toEqual(parameters)
})
