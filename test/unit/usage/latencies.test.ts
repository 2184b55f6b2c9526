import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cover } from '../../../server/usage/report/figures.ts'
import type { Stored } from '../../../server/usage/stored/grains.ts'
import { addLatency, bucketOf, percentile, type Latencies } from '../../../server/usage/stored/latencies.ts'

function latenciesOf(times: number[]): Latencies {
  const latencies: Latencies = new Map()
  for (const ms of times) addLatency(latencies, bucketOf(ms))
  return latencies
}

test('percentiles are within 1 % of the exact ones', () => {
  const times = fc.array(fc.double({ min: 0.02, max: 1_000_000, noNaN: true }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(times, fc.constantFrom(0, 0.5, 0.95, 0.99, 1), (all, share) => {
      const sorted = all.toSorted((left, right) => left - right)
      const exact = sorted[Math.max(1, Math.ceil(share * all.length - 1e-9)) - 1] ?? 0
      const found = percentile(latenciesOf(all), share) ?? -1
      // The answer is rounded to a thousandth of a millisecond.
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.010001 + 0.0006)
    }),
  )
})

test('merging is adding: the percentile of two halves together is that of the whole', () => {
  const times = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 100 })
  fc.assert(
    fc.property(times, times, (left, right) => {
      const merged = latenciesOf(left)
      for (const [bucket, count] of latenciesOf(right)) addLatency(merged, bucket, count)
      expect(percentile(merged, 0.95)).toBe(percentile(latenciesOf([...left, ...right]), 0.95))
    }),
  )
})

test('of two calls the slower one is what 95 of 100 stay within', () => {
  expect(percentile(latenciesOf([10, 50]), 0.95)).toBeGreaterThan(49)
  expect(percentile(latenciesOf([10, 50]), 0.5)).toBeLessThan(11)
})

test('nothing has no percentile', () => {
  expect(percentile(new Map(), 0.5)).toBeNull()
})

test('a span is covered once and whole, by days and hours where those are complete', () => {
  const minute = 60_000
  const span = fc.tuple(fc.nat(20_000), fc.nat(20_000), fc.nat(20_000), fc.nat(20_000))
  fc.assert(
    fc.property(span, ([from, length, hours, days]) => {
      const until = new Map<Stored, number>([
        ['hour', hours * minute],
        ['day', days * minute],
      ])
      const to = (from + length) * minute
      const pieces = cover({ from: from * minute, to }, until, { stored: ['day', 'hour', 'minute'] })
      let reached = from * minute
      for (const piece of pieces) {
        expect(piece.from).toBe(reached)
        expect(piece.to).toBeGreaterThan(piece.from)
        if (piece.stored !== 'minute') expect(piece.to).toBeLessThanOrEqual(until.get(piece.stored) ?? 0)
        reached = piece.to
      }
      expect(reached).toBe(to)
    }),
  )
})
