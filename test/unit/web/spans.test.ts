import { expect, test } from 'vitest'
import { momentsOf, sayBefore, spanBefore, spanIn } from '../../../web/parts/chart/spans.ts'

const nowMs = Date.parse('2026-03-02T10:20:30Z')
const exact = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-01T06:00:00.000Z' }

test.each([
  ['hours=24', { hours: 24 }],
  [`hours=24&from=${exact.from}&to=${exact.to}`, exact],
  ['hours=5', null],
  [`from=${exact.to}&to=${exact.from}`, null],
  ['from=then&to=now', null],
  ['', null],
])('an address with %s shows %j', (search, span) => {
  expect(spanIn(new URLSearchParams(search))).toEqual(span)
})

test('hours until now begin at a whole minute, and have no end that is in the way of new calls', () => {
  expect(momentsOf({ hours: 1 }, nowMs)).toEqual({ from: '2026-03-02T09:20:00.000Z' })
  expect(momentsOf(exact, nowMs)).toEqual(exact)
})

test('the time before is as long and ends where the other begins', () => {
  expect(spanBefore(exact, nowMs)).toEqual({ from: '2026-02-28T18:00:00.000Z', to: exact.from })
  expect(spanBefore({ hours: 24 }, nowMs)).toEqual({
    from: '2026-02-28T10:20:30.000Z',
    to: '2026-03-01T10:20:30.000Z',
  })
  expect(sayBefore({ hours: 168 })).toBe('the week before')
  expect(sayBefore(exact)).toBe('the time before')
})
