import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openQuestions } from '../harness/questions.ts'

const day = { type: 'string', format: 'date' }
const instant = { type: 'string', format: 'date-time' }
const timeOfDay = { type: 'string', format: 'time' }
const states = ['booked', 'in_transit', 'at_customs', 'lost']

/** What a depot asks its data: each query gives back what it was asked for, so that an answer shows what was bound. */
const queries = [
  {
    name: 'deliveries_on',
    description: 'Deliveries planned for a day',
    sql: 'SELECT CAST($date AS DATE) AS delivered_on',
    slots: { type: 'object', properties: { date: day }, required: ['date'] },
    examples: [{ question: 'deliveries tomorrow' }, { question: 'what do we deliver on 4 December' }],
  },
  {
    name: 'shipments_by_status',
    description: 'Shipments in one or more states',
    sql: `SELECT status FROM (VALUES ('booked'), ('in_transit'), ('at_customs'), ('lost')) AS s(status)
          WHERE list_contains($statuses, status) ORDER BY status`,
    slots: {
      type: 'object',
      properties: {
        statuses: {
          type: 'array',
          items: { type: 'string', enum: states, 'x-synonyms': { at_customs: ['customs', 'stuck at customs'] } },
        },
      },
      required: ['statuses'],
    },
    examples: [
      { question: 'shipments in transit', parameters: { statuses: ['in_transit'] } },
      { question: 'what is booked or stuck at customs', parameters: { statuses: ['booked', 'at_customs'] } },
    ],
  },
  {
    name: 'late_shipments',
    description: 'Shipments that are late by more than a number of days',
    sql: 'SELECT $days AS days',
    slots: { type: 'object', properties: { days: { type: 'integer', minimum: 0, maximum: 60, default: 0 } } },
    examples: [
      { question: 'which shipments are late' },
      { question: 'shipments more than 3 days late', parameters: { days: 3 } },
    ],
  },
  {
    name: 'drivers_on_shift',
    description: 'Drivers who are on shift at a time of day',
    sql: 'SELECT $at AS at, $p AS pallets',
    slots: {
      type: 'object',
      properties: { at: timeOfDay, p: { type: 'integer', title: 'pallets' } },
      required: ['at'],
    },
    examples: [
      { question: 'who is on shift at 6:30 am', parameters: { at: '06:30:00' } },
      { question: 'drivers on shift at noon with 4 pallets', parameters: { at: '12:00:00', p: 4 } },
    ],
  },
  {
    name: 'gate_arrivals',
    description: 'Trucks that came through the gate between two moments',
    sql: 'SELECT CAST($from_time AS VARCHAR) AS since, CAST($to_time AS VARCHAR) AS until',
    slots: {
      type: 'object',
      properties: { from_time: instant, to_time: instant },
      required: ['from_time', 'to_time'],
    },
    examples: [
      { question: 'trucks at the gate yesterday between 8am and noon' },
      { question: 'which trucks came in on 2 May from 22:00 to 23:30' },
    ],
  },
]

let opened: Awaited<ReturnType<typeof openQuestions>>
beforeAll(async () => {
  opened = await openQuestions()
  for (const query of queries) await opened.q.deploy(query)
}, 90_000)
afterAll(() => opened.t.close())

const clock = { time_zone: 'Europe/Oslo' }

describe('a depot', () => {
  test.each([
    ['everything booked, lost or at customs', 'shipments_by_status', { statuses: ['booked', 'lost', 'at_customs'] }],
    ['shipments more than two weeks late', 'late_shipments', { days: 14 }],
    [
      'which trucks came in on 9 March 2026 from 5 to 9 pm',
      'gate_arrivals',
      { from_time: '2026-03-09T16:00:00Z', to_time: '2026-03-09T20:00:00Z' },
    ],
    ['which drivers are on shift at 8:15 pm', 'drivers_on_shift', { at: '20:15:00', p: null }],
    ['who is on shift at 22:00 with 12 pallets', 'drivers_on_shift', { at: '22:00:00', p: 12 }],
    ['deliveries on 01.03.2026', 'deliveries_on', { date: '2026-03-01' }],
  ])('answers %j, the same as a stream', async (question, query, parameters) => {
    const { status, body } = await opened.ask(question, { explain: true, ...clock })
    expect({ status, query: body.query_used ?? body, parameters: body.parameters }).toEqual({
      status: 200,
      query,
      parameters,
    })
    expect(body.unused).toBeUndefined()
    const streamed = await opened.ask(question, { stream: true, explain: true, ...clock })
    expect(streamed.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(String(streamed.body)).toContain(JSON.stringify(parameters).slice(1, -1))
  })

  test('asks for the day of "this week", and the same call with it gets through', async () => {
    const { status, body } = await opened.ask('deliveries this week', clock)
    expect({ status, reason: body.reason, required: body.schema?.required }).toEqual({
      status: 422,
      reason: 'missing_slots',
      required: ['date'],
    })
    expect(JSON.stringify(body)).toContain('takes one day, and the question names more: this week')
    const again = await opened.ask('deliveries this week', { ...clock, parameters: { date: '2026-03-04' } })
    expect(again).toMatchObject({
      status: 200,
      body: { query_used: 'deliveries_on', data: [{ delivered_on: '2026-03-04' }] },
    })
  })

  test('says why an hour is no day', async () => {
    const { status, body } = await opened.ask('deliveries tomorrow after 3 pm', { explain: true, ...clock })
    expect({ status, reason: body.reason }).toEqual({ status: 422, reason: 'no_match' })
    expect(JSON.stringify(body)).toContain('cannot hold an hour')
  })
})
