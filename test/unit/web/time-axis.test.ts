import { expect, test } from 'vitest'
import { timeAxis } from '../../../web/parts/chart/time-axis.ts'

const from = new Date(2026, 10, 15, 17, 0).getTime()
const times = (count: number, stepMinutes: number, start = from): string[] =>
  Array.from({ length: count }, (_, at) => new Date(start + at * stepMinutes * 60_000).toISOString())

/** What stands under the chart. */
const marks = (all: string[], most: number): string[] => {
  const { ticks, label } = timeAxis(all, most)
  return ticks.map(label)
}

test('a day in hours is marked every few hours, and the day is said where it begins', () => {
  expect(marks(times(25, 60), 9)).toEqual(['18:00', '21:00', '16 Nov', '03:00', '06:00', '09:00', '12:00', '15:00'])
  expect(marks(times(25, 60), 3)).toEqual(['16 Nov', '12:00'])
})

test('an hour in minutes is marked on whole pieces of it', () => {
  expect(marks(times(61, 1, from + 7 * 60_000), 7)).toEqual(['17:10', '17:20', '17:30', '17:40', '17:50', '18:00'])
})

test('a month in days is marked by days at even distances', () => {
  const { ticks, label } = timeAxis(times(30, 1440, new Date(2026, 9, 17).getTime()), 8)
  expect(ticks.map(label)).toEqual(['22 Oct', '29 Oct', '5 Nov', '12 Nov'])
})

test('what misses every mark has the first of its times', () => {
  expect(timeAxis(times(1, 60, from + 60_000), 5).ticks).toHaveLength(1)
  expect(timeAxis([], 5).ticks).toEqual([])
})
