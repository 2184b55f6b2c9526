import { expect, test } from 'vitest'
import {
  recogniseIdentifiers,
  recogniseNumbers,
  recogniseQuoted,
  recogniseTimes,
} from '../../../server/language/recognise.ts'

test.each([
  ['orders over 1,250.50', 1250.5, null],
  ['more than $3k', 3000, 'money'],
  ['at least 20 euros', 20, 'money'],
  ['15% discount', 15, 'percent'],
  ['12.5 per cent', 12.5, 'percent'],
  ['the 3rd quarter', 3, 'ordinal'],
  ['two hundred and five parcels', 205, null],
  ['twenty-one days', 21, null],
  ['a dozen eggs', 12, null],
  ['three million rows', 3_000_000, null],
  ['below -4 degrees', -4, null],
  ['more than 1e9', 1_000_000_000, null],
  ['over 1.000,50 €', 1000.5, 'money'],
  ['more than 1.250.000 rows', 1_250_000, null],
  ['2,5% growth', 2.5, 'percent'],
  ['heavier than 50kg', 50, null],
  ['late by more than a week', 1, null],
  ['under a litre', 1, null],
  ['overdue a week or more', 1, null],
  ['half a million', 500_000, null],
  ['half a dozen', 6, null],
  ['two and a half hours', 2.5, null],
  ['three quarters of an hour', 0.75, null],
  ['an order of a couple of hundred', 200, null],
  ['a hundred and twenty', 120, null],
  ['fifteen hundred', 1_500, null],
  ['two thousand five hundred', 2_500, null],
  ['minus eighteen', -18, null],
  ['5 degrees below zero', -5, null],
  ['below –5.5', -5.5, null],
  ['1 hour 15 minutes', 75, null],
  ['3 grand', 3_000, null],
  ["1'250 rows", 1_250, null],
  ['20 000 euros', 20_000, 'money'],
  ['order 9007199254740993', '9007199254740993', null],
  ['order -9,007,199,254,740,993', '-9007199254740993', null],
])('%s', (text, value, unit) => {
  expect(recogniseNumbers(text)).toMatchObject([{ value, unit }])
})

test.each([
  ['levels one and two', [1, 2]],
  ['between five and six', [5, 6]],
  ['one, two and three', [1, 2, 3]],
  ['the first quarter of 2025', [2025]],
  ['booked per quarter of a year', []],
  ['a couple from Oslo', []],
])('%s: numbers beside each other stay apart', (text, values) => {
  expect(recogniseNumbers(text).map(({ value }) => value)).toEqual(values)
})

test('digits inside a word or a code are no number', () => {
  expect(recogniseNumbers('show AB-1234 and x2y and v1.2.3')).toEqual([])
})

test.each([
  ['aged 20-40', [20, 40]],
  ['10-15kg', [10, 15]],
  ['ids 1,2,3', [1, 2, 3]],
  ['call 555-12', [555]],
  ['on 2026-11-20', [2026]],
  ['in 2025-03', [2025]],
])('%s: a dash joins a smaller with a larger number', (text, values) => {
  expect(recogniseNumbers(text).map(({ value }) => value)).toEqual(values)
})

test('quoted text keeps its inside and its place', () => {
  const text = "titles with “blue whale” or 'red fox'"
  const found = recogniseQuoted(text)
  expect(found.map(({ value }) => value)).toEqual(['blue whale', 'red fox'])
  expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(['blue whale', 'red fox'])
})

test('an apostrophe opens no quotation', () => {
  expect(recogniseQuoted("Anna's orders and Tom's parcels")).toEqual([])
})

test.each(['AB-1234', 'sku_77a', '0d5c1f2e-9a01-4b7e-8f00-1a2b3c4d5e6f', 'anna@example.com'])(
  '%s is an identifier',
  (value) => {
    expect(recogniseIdentifiers(`what about ${value} today`)).toMatchObject([{ value }])
  },
)

test.each([
  ['at 5:30 pm', '17:30:00'],
  ['after 9 a.m.', '09:00:00'],
  ['before noon', '12:00:00'],
  ['by 23:15', '23:15:00'],
  ['12 am sharp', '00:00:00'],
])('%s', (text, value) => {
  expect(recogniseTimes(text)).toMatchObject([{ value }])
})

test.each([
  ['from 5 to 9 pm', ['17:00:00', '21:00:00']],
  ['from 11 to 1 pm', ['11:00:00', '13:00:00']],
  ['between 6:30 and 9', ['06:30:00', '09:00:00']],
  ['from 10:30 to 2', ['10:30:00', '14:00:00']],
  ['17-21h', ['17:00:00', '21:00:00']],
  ['from 8:00 to 3 May', ['08:00:00']],
  ['3 parcels and 5 pm', ['17:00:00']],
  ['within 24h', []],
])('%s: the other end of a time is a time', (text, values) => {
  const found = recogniseTimes(text).sort((a, b) => a.start - b.start)
  expect(found.map(({ value }) => value)).toEqual(values)
})
