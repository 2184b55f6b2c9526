import { describe, expect, test } from 'vitest'
import { dayValue, inclusive } from '../../../server/language/days/calendar.ts'
import { recogniseDates } from '../../../server/language/dates.ts'
import { spentMs } from '../../harness/processor-time.ts'

const clock = { now: new Date('2025-06-15T10:00:00Z'), timeZone: 'UTC' }

test('the last 24 hours are those that end now, and touch two days', () => {
  const november = { now: new Date('2026-11-15T09:30:00Z'), timeZone: 'Europe/Oslo' }
  const [hours] = recogniseDates('arrivals in the last 24 hours', november)
  expect(hours).toMatchObject({ first: '2026-11-14', last: '2026-11-15', isCounted: true })
  if (hours === undefined) throw new Error('No hours were found.')
  expect(dayValue(hours, 'first', 'date-time', 'Europe/Oslo')).toBe('2026-11-14T09:30:00Z')
  expect(dayValue(hours, 'last', 'date-time', 'Europe/Oslo')).toBe('2026-11-15T09:30:00Z')
})

test.each([
  ['on 2025-03-04', '2025-03-04', '2025-03-04', null],
  ['in March 2024', '2024-03-01', '2024-03-31', null],
  ['for 2024-02', '2024-02-01', '2024-02-29', null],
  ['from 2024-02 to 2024-04', '2024-02-01', '2024-04-30', null],
  ['on 01.03.2025', '2025-03-01', '2025-03-01', null],
  ['01.03.2025 - 15.03.2025', '2025-03-01', '2025-03-15', null],
  ['from 01/03/2025 to 15/03/2025', '2025-03-01', '2025-03-15', null],
  ['from 03/01/2025 to 03/15/2025', '2025-03-01', '2025-03-15', null],
  ['on the 3rd', '2025-06-03', '2025-06-03', null],
  ['on the 20th?', '2025-05-20', '2025-05-20', null],
  ['due on the 20th', '2025-06-20', '2025-06-20', null],
  ['since the 31st', '2025-05-31', '2025-05-31', 'after'],
  ['last month', '2025-05-01', '2025-05-31', null],
  ['this week', '2025-06-09', '2025-06-15', null],
  ['last week', '2025-06-02', '2025-06-08', null],
  ['last 7 days', '2025-06-09', '2025-06-15', null],
  ['last 2 weeks', '2025-06-02', '2025-06-15', null],
  ['past day', '2025-06-15', '2025-06-15', null],
  ['next 7 days', '2025-06-15', '2025-06-21', null],
  ['past three months', '2025-03-16', '2025-06-15', null],
  ['last year', '2024-01-01', '2024-12-31', null],
  ['Q3 2025', '2025-07-01', '2025-09-30', null],
  ['second quarter of 2024', '2024-04-01', '2024-06-30', null],
  ['last quarter', '2025-01-01', '2025-03-31', null],
  ['first half of 2025', '2025-01-01', '2025-06-30', null],
  ['year to date', '2025-01-01', '2025-06-15', null],
  ['this year so far', '2025-01-01', '2025-06-15', null],
  ['so far this month', '2025-06-01', '2025-06-15', null],
  ['this quarter up to now', '2025-04-01', '2025-06-15', null],
  ['tomorrow', '2025-06-16', '2025-06-16', null],
  ['since March', '2025-03-01', '2025-03-31', 'after'],
  ['until May 2025', '2025-05-01', '2025-05-31', 'before'],
  ['before 2020', '2020-01-01', '2020-12-31', 'before'],
  ['yesterday', '2025-06-14', '2025-06-14', null],
  ['between January and April 2025', '2025-01-01', '2025-04-30', null],
  ['from 3 May 2025 to 9 May 2025', '2025-05-03', '2025-05-09', null],
  ['from November to February 2025', '2024-11-01', '2025-02-28', null],
  ['between 1 December and 24 December 2026', '2026-12-01', '2026-12-24', null],
  ['in 2023', '2023-01-01', '2023-12-31', null],
  ['2025-03-04..2025-03-09', '2025-03-04', '2025-03-09', null],
  ['ytd', '2025-01-01', '2025-06-15', null],
  ['mtd', '2025-06-01', '2025-06-15', null],
  ['qtd', '2025-04-01', '2025-06-15', null],
  ['second week of March', '2025-03-08', '2025-03-14', null],
  ['in the fifth week of March', '2025-03-29', '2025-03-31', null],
  ['the first Monday of March', '2025-03-03', '2025-03-03', null],
  ['the second Tuesday in April 2025', '2025-04-08', '2025-04-08', null],
  ['the last Friday of May', '2025-05-30', '2025-05-30', null],
  ['second half of last year', '2024-07-01', '2024-12-31', null],
  ['first half of this year', '2025-01-01', '2025-06-30', null],
  ['second half of the year 2024', '2024-07-01', '2024-12-31', null],
  ['first three months of 2024', '2024-01-01', '2024-03-31', null],
  ['last month of 2024', '2024-12-01', '2024-12-31', null],
  ['last two months of last quarter', '2025-02-01', '2025-03-31', null],
  ['last day of the month', '2025-06-30', '2025-06-30', null],
  ['first day of the quarter', '2025-04-01', '2025-04-01', null],
  ['by the end of 2024', '2024-12-31', '2024-12-31', 'before'],
  ['since the start of March', '2025-03-01', '2025-03-31', 'after'],
  ['the 12 months to March', '2024-04-01', '2025-03-31', null],
  ['the year ended 31 March 2025', '2024-04-01', '2025-03-31', null],
  ['two weeks ending 14 June', '2025-06-01', '2025-06-14', null],
  ['November 2 through 6', '2024-11-02', '2024-11-06', null],
  ['more than 30 days ago', '2025-05-16', '2025-05-16', 'before'],
  ['at least 3 weeks ago', '2025-05-25', '2025-05-25', 'before'],
  ['less than a week ago', '2025-06-08', '2025-06-08', 'after'],
  ['between 3 and 5 days ago', '2025-06-10', '2025-06-12', null],
  ['last30days', '2025-05-17', '2025-06-15', null],
  ['the night of 18 July 2027', '2027-07-18', '2027-07-18', null],
  ['wtd', '2025-06-09', '2025-06-15', null],
  ['last 7d', '2025-06-09', '2025-06-15', null],
  ['past 30d', '2025-05-17', '2025-06-15', null],
  ['last 4w', '2025-05-19', '2025-06-15', null],
  ['last 1,000 days', '2022-09-20', '2025-06-15', null],
  ['trailing 30 days', '2025-05-17', '2025-06-15', null],
  ['prior month', '2025-05-01', '2025-05-31', null],
  ['this wk', '2025-06-09', '2025-06-15', null],
  ['last mo', '2025-05-01', '2025-05-31', null],
  ['last qtr', '2025-01-01', '2025-03-31', null],
  ['the 15th to the 22nd of May 2025', '2025-05-15', '2025-05-22', null],
  ['from 10 April to 9 May 2025', '2025-04-10', '2025-05-09', null],
  ['from the 10th of May 2025 until the 20th of May 2025', '2025-05-10', '2025-05-20', null],
  ['28 December to 3 January', '2024-12-28', '2025-01-03', null],
  ['in the week 9-15 March 2025', '2025-03-09', '2025-03-15', null],
  ['1.5.-30.5.2025', '2025-05-01', '2025-05-30', null],
  ['what went through yesterday', '2025-06-14', '2025-06-14', null],
  ['Jan–Mar 2025', '2025-01-01', '2025-03-31', null],
  ['Jan to Mar 2025', '2025-01-01', '2025-03-31', null],
  ["Oct '24", '2024-10-01', '2024-10-31', null],
  ['2025-W23', '2025-06-02', '2025-06-08', null],
  ['in w23', '2025-06-02', '2025-06-08', null],
  ['week 45', '2024-11-04', '2024-11-10', null],
  ['weeks 20 to 22', '2025-05-12', '2025-06-01', null],
  ['Q1 to date', '2025-01-01', '2025-06-15', null],
  ['may to date', '2025-05-01', '2025-06-15', null],
  ['since May', '2025-05-01', '2025-05-31', 'after'],
  ['2024-Q3', '2024-07-01', '2024-09-30', null],
  ["Q3'24", '2024-07-01', '2024-09-30', null],
  ['Q1 to Q3 2024', '2024-01-01', '2024-09-30', null],
  ['H1', '2025-01-01', '2025-06-30', null],
  ['2024-2025', '2024-01-01', '2025-12-31', null],
  ['March last year', '2024-03-01', '2024-03-31', null],
  ["last year's Q3", '2024-07-01', '2024-09-30', null],
  ['second half of May', '2025-05-16', '2025-05-31', null],
  ['first 10 days of May', '2025-05-01', '2025-05-10', null],
  ['the week of 4 June', '2025-06-02', '2025-06-08', null],
  ['last weekend', '2025-06-07', '2025-06-08', null],
  ['Monday last week', '2025-06-02', '2025-06-02', null],
  ['Monday to Friday last week', '2025-06-02', '2025-06-06', null],
  ['the month before last', '2025-04-01', '2025-04-30', null],
  ['next March', '2026-03-01', '2026-03-31', null],
  ['2025-03-01/2025-03-05', '2025-03-01', '2025-03-05', null],
  ['05.11.24', '2024-11-05', '2024-11-05', null],
  ['in the year 2024', '2024-01-01', '2024-12-31', null],
])('%s', (text, first, last, open) => {
  expect(recogniseDates(`orders ${text}`, clock)).toMatchObject([{ first, last, open }])
})

test.each([
  ['wie viele bestellungen gab es gestern bei uns', '2025-06-14'],
  ['zeige alle bestellungen vom 3. Mai 2025', '2025-05-03'],
  ['combien de commandes avons-nous eu hier', '2025-06-14'],
  ['cuántos pedidos tenemos de ayer', '2025-06-14'],
])('the day of %j', (text, first) => {
  expect(recogniseDates(text, clock)).toMatchObject([{ first }])
})

test('an hour counted in minutes ends now', () => {
  const [minutes] = recogniseDates('orders in the last 30 min', clock)
  expect(minutes).toMatchObject({ time: '09:30:00', endTime: '10:00:00', isCounted: true })
})

test.each([
  ['on or before 5 May', 'before', false],
  ['up to and including 5 May', 'before', false],
  ['no later than 5 May', 'before', false],
  ['5 May or later', 'after', false],
  ['on or after 5 May', 'after', false],
  ['before 5 May', 'before', true],
])('“%s” opens a stretch', (text, open, isStrict) => {
  expect(recogniseDates(`orders ${text}`, clock)).toMatchObject([{ first: '2025-05-05', open, isStrict }])
})

test.each(['last few days', 'for 2 weeks', 'within 7 days', 'last 1.5 months', '2024/25', 'the 7 days before it'])(
  'no period is made up for “%s”',
  (text) => {
    expect(recogniseDates(`orders ${text}`, clock)).toEqual([])
  },
)

test.each(['325 parcels', 'room 12', 'may I see the list', 'AB-2024', '$2024', 'on the 3rd floor'])(
  '%s names no day',
  (text) => {
    expect(recogniseDates(text, clock)).toEqual([])
  },
)

test("today is the caller's day, not the server's", () => {
  const late = new Date('2025-06-15T23:30:00Z')
  const [oslo] = recogniseDates('orders today', { now: late, timeZone: 'Europe/Oslo' })
  const [york] = recogniseDates('orders today', { now: late, timeZone: 'America/New_York' })
  expect([oslo?.first, york?.first]).toEqual(['2025-06-16', '2025-06-15'])
})

test('an instant is the end of the day where the caller is, also when clocks change', () => {
  const [march] = recogniseDates('in March 2025', clock)
  if (march === undefined) throw new Error('March is a month.')
  expect(dayValue(march, 'first', 'date', 'Europe/Oslo')).toBe('2025-03-01')
  expect(dayValue(march, 'first', 'date-time', 'Europe/Oslo')).toBe('2025-02-28T23:00:00Z')
  expect(dayValue(march, 'last', 'date-time', 'Europe/Oslo')).toBe('2025-03-31T21:59:59Z')
})

describe('in November', () => {
  const november = { now: new Date('2026-11-15T10:00:00Z'), timeZone: 'UTC' }

  test.each([
    ['since March', '2026-03-01', '2026-03-31'],
    ['in December', '2025-12-01', '2025-12-31'],
    ['on 5 December', '2025-12-05', '2025-12-05'],
    ['from 3 to 9 December', '2025-12-03', '2025-12-09'],
    ['from Nov 10 to Nov 20', '2026-11-10', '2026-11-20'],
    ['between November and February', '2025-11-01', '2026-02-28'],
    ['between 3 and 5 May', '2026-05-03', '2026-05-05'],
    ['on Monday', '2026-11-09', '2026-11-09'],
    ['next March', '2027-03-01', '2027-03-31'],
    ['by December', '2026-12-01', '2026-12-31'],
    ['due in March', '2027-03-01', '2027-03-31'],
    ['in Q4', '2026-10-01', '2026-12-31'],
    ['in the last 24 hours', '2026-11-14', '2026-11-15'],
    ['in the last 2 quarters', '2026-05-16', '2026-11-15'],
    ['since the beginning of the year', '2026-01-01', '2026-11-15'],
    ['between 2025-06-01 and 2025-01-01', '2025-01-01', '2025-06-01'],
    ['between 28 and 5 May', '2026-04-28', '2026-05-05'],
    ['between the 3rd and the 5th of May 2025', '2025-05-03', '2025-05-05'],
    ['from 3 December to 5 January 2026', '2025-12-03', '2026-01-05'],
    ['from 2024-02 to March', '2024-02-01', '2024-03-31'],
    ['from 1 March 2025 to Monday', '2025-03-01', '2026-11-09'],
    ['from 01.03.2025 to last month', '2025-03-01', '2026-10-31'],
    ['from 2025-02-15 to 3 March 2025', '2025-02-15', '2025-03-03'],
    ['from 3 March 2025 8:00 to Q3 2025', '2025-03-03', '2025-09-30'],
    ['from last quarter to today', '2026-07-01', '2026-11-15'],
    ['end of last week', '2026-11-08', '2026-11-08'],
    ['on the last day of last quarter', '2026-09-30', '2026-09-30'],
    ['in the last 7 days after 3 pm', '2026-11-09', '2026-11-15'],
    ['01.03.2025-05.03.2025', '2025-03-01', '2025-03-05'],
  ])('%s is what has been, unless it is said to come', (text, first, last) => {
    expect(recogniseDates(`orders ${text}`, november)).toMatchObject([{ first, last, isReal: true }])
  })

  test('a quarter that has not begun is the one of last year', () => {
    const february = { now: new Date('2026-02-10T10:00:00Z'), timeZone: 'UTC' }
    expect(recogniseDates('orders in Q4', february)).toMatchObject([{ first: '2025-10-01', last: '2025-12-31' }])
    expect(recogniseDates('orders in Q1', february)).toMatchObject([{ first: '2026-01-01' }])
  })
})

test('days beside each other are days of their own, in the order they stand', () => {
  const firsts = (text: string): string[] => recogniseDates(text, clock).map(({ first }) => first)
  expect(firsts('orders on 4 and 5 May 2025')).toEqual(['2025-05-04', '2025-05-05'])
  expect(firsts('orders on 12/13 May 2025')).toEqual(['2025-05-12', '2025-05-13'])
  expect(firsts('orders on 1, 3 and 5 May 2025')).toEqual(['2025-05-01', '2025-05-03', '2025-05-05'])
  expect(firsts('orders on May 2 and 6')).toEqual(['2025-05-02', '2025-05-06'])
  expect(firsts('orders in November and December 2024')).toEqual(['2024-11-01', '2024-12-01'])
  expect(firsts('orders on 2025-03-04, 3 March 2024 and in 2023')).toEqual(['2025-03-04', '2024-03-03', '2023-01-01'])
  expect(firsts('rooms 5 and 5 May 2025')).toEqual(['2025-05-05'])
})

test('a pattern that looks at what precedes it does so after another match, too', () => {
  expect(recogniseDates('orders 2025-03-042025-03-05', clock)).toEqual([])
  expect(recogniseDates('code 112 March 2025', clock)).not.toMatchObject([{ first: '2025-03-12' }])
})

test.each([
  ['before 2025', '2025-01-01', '2024-12-31'],
  ['after March 2025', '2025-04-01', '2025-03-31'],
  ['until May 2025', '2025-05-01', '2025-05-31'],
  ['since May 2025', '2025-05-01', '2025-05-31'],
])('%s includes the day it gives and no other', (text, first, last) => {
  const [days] = recogniseDates(`orders ${text}`, clock)
  if (days === undefined) throw new Error('A day was named.')
  expect(inclusive(days)).toMatchObject({ first, last })
})

test.each(['2025-02-30', '2025-13-01', '31 February 2025', 'June 31', '29 February 2025', '30.02.2025'])(
  '%s is kept as it was written, and no other day is made of it',
  (text) => {
    const days = recogniseDates(`orders on ${text}`, clock)
    expect(days).toMatchObject([{ first: text, last: text, isReal: false }])
    for (const each of days) expect(dayValue(each, 'first', 'date-time', 'Europe/Oslo')).toBe(text)
  },
)

test('a day that does not exist stays one beside a weekday, an hour and another day', () => {
  for (const text of ['Monday, 2025-02-30', '2025-02-30 at 8:00', 'from 2025-02-30 to 2025-03-05']) {
    expect(recogniseDates(`orders ${text}`, clock)).toMatchObject([{ first: '2025-02-30', isReal: false }])
  }
})

test.each([
  ['2025-03-29T22:59:00Z', 'Europe/Oslo', '2025-03-29'],
  ['2025-03-29T23:01:00Z', 'Europe/Oslo', '2025-03-30'],
  ['2025-10-25T21:59:00Z', 'Europe/Oslo', '2025-10-25'],
  ['2025-10-25T22:01:00Z', 'Europe/Oslo', '2025-10-26'],
  ['2025-06-15T18:31:00Z', 'Asia/Kolkata', '2025-06-16'],
  ['2024-12-31T10:00:00Z', 'Pacific/Kiritimati', '2025-01-01'],
  ['2026-11-15T22:59:59.999Z', 'Europe/Oslo', '2026-11-15'],
  ['2026-11-15T23:00:00.000Z', 'Europe/Oslo', '2026-11-16'],
  // The same quarter of an hour, within which clocks are read once.
  ['2026-11-15T23:00:00.001Z', 'Europe/Oslo', '2026-11-16'],
  ['1972-01-07T00:44:29Z', 'Africa/Monrovia', '1972-01-06'],
  ['1972-01-07T00:44:31Z', 'Africa/Monrovia', '1972-01-07'],
])('around midnight, %s is today in %s on %s', (now, timeZone, today) => {
  const at = { now: new Date(now), timeZone }
  expect(recogniseDates('orders today', at)).toMatchObject([{ first: today }])
  const [month] = recogniseDates('orders this month', at)
  expect(month?.first).toBe(`${today.slice(0, 7)}-01`)
})

test('spaces, however many, leave a day in its place', () => {
  const text = 'orders   from \n  4   March  2025\t please'
  const [days] = recogniseDates(text, clock)
  expect(days).toMatchObject({ first: '2025-03-04', open: 'after' })
  expect(text.slice(days?.start, days?.end)).toBe('4   March  2025')
})

test.each(['5 days', '5 hours', '5 giorni', '5 dagen', '5 tage', '5 jours', '5 días', '5 dias'])(
  'no row of %s takes long, whatever stands between',
  (unit) => {
    const languages = ['', 'quali sono gli ordini di ', 'hoeveel bestellingen van de ', 'wie viele bestellungen der ']
    for (const before of languages) {
      for (const between of [' ', '   ', ' \n \t ', ', ', ' and ']) {
        const startedMs = spentMs()
        recogniseDates(before + Array.from({ length: 16 }, () => unit).join(between), clock)
        // It took eight seconds.
        expect(spentMs() - startedMs).toBeLessThan(4_000)
      }
    }
  },
)

test.each([
  ['2025-09-07', 'America/Santiago', '2025-09-07T04:00:00Z', '2025-09-08T02:59:59Z'],
  ['2025-04-05', 'America/Santiago', '2025-04-05T03:00:00Z', '2025-04-06T03:59:59Z'],
  ['2025-03-09', 'America/Havana', '2025-03-09T05:00:00Z', '2025-03-10T03:59:59Z'],
  ['2025-11-02', 'America/Havana', '2025-11-02T04:00:00Z', '2025-11-03T04:59:59Z'],
  ['2024-04-26', 'Africa/Cairo', '2024-04-25T22:00:00Z', '2024-04-26T20:59:59Z'],
  ['2025-10-05', 'Australia/Lord_Howe', '2025-10-04T13:30:00Z', '2025-10-05T12:59:59Z'],
])('%s in %s, where clocks change, is all of that day', (date, timeZone, first, last) => {
  const [days] = recogniseDates(`orders on ${date}`, clock)
  if (days === undefined) throw new Error('A day was named.')
  expect(dayValue(days, 'first', 'date-time', timeZone)).toBe(first)
  expect(dayValue(days, 'last', 'date-time', timeZone)).toBe(last)
})

test.each([
  ['on 9 March 2026 from 5 to 9 pm', '2026-03-09T16:00:00Z', '2026-03-09T20:00:00Z'],
  ['from 3 March 2026 at 8:00 to 5 March 2026 at 18:30', '2026-03-03T07:00:00Z', '2026-03-05T17:30:00Z'],
  ['from 2026-03-03 08:00 to 2026-03-05 18:30', '2026-03-03T07:00:00Z', '2026-03-05T17:30:00Z'],
  ['from 3 March 2026 at 8:00 to 5 March 2026', '2026-03-03T07:00:00Z', '2026-03-05T22:59:59Z'],
  ['from 3 March 2026 at 8:30 to 5 March', '2026-03-03T07:30:00Z', '2026-03-05T22:59:59Z'],
  ['from 03.03.2026 8:00 to 05.03.2026 18:30', '2026-03-03T07:00:00Z', '2026-03-05T17:30:00Z'],
  ['between 5 and 9 pm on 9 March 2026', '2026-03-09T16:00:00Z', '2026-03-09T20:00:00Z'],
  ['on 9 March 2026 between 8:00 and 10:30', '2026-03-09T07:00:00Z', '2026-03-09T09:30:00Z'],
  ['between 11 and 2 pm on 9 March 2026.', '2026-03-09T10:00:00Z', '2026-03-09T13:00:00Z'],
])('%s ends at its own hour', (text, from, to) => {
  const [days] = recogniseDates(`trucks ${text}`, clock)
  if (days === undefined) throw new Error('It names days.')
  expect(dayValue(days, 'first', 'date-time', 'Europe/Oslo')).toBe(from)
  expect(dayValue(days, 'last', 'date-time', 'Europe/Oslo')).toBe(to)
})

test('an hour is no bound of a period, and the minutes of one are no day', () => {
  expect(recogniseDates('orders last month after 3 pm', clock)).toMatchObject([{ last: '2025-05-31', time: null }])
  expect(recogniseDates('show me the orders 20:30 March 3', clock)).toMatchObject([{ first: '2025-03-03' }])
})

test('what is counted in hours and minutes has no time of the day, in any language', () => {
  for (const text of ['orders 25 minutes ago', 'orders up to now', 'bestellungen der letzten kunden vor 2 stunden']) {
    expect(recogniseDates(text, clock)).toMatchObject([{ first: '2025-06-15', time: null }])
  }
  expect(recogniseDates('orders 2 days ago at 8:00', clock)).toMatchObject([{ first: '2025-06-13', time: '08:00:00' }])
})

test.each([
  '01.03.2025 - ',
  '8:00 to 5 March ',
  '2025-02-30 ',
  'q1 ',
  'between 5 and ',
  '5/6/2025 ',
  'last month of ',
  'seit dem 5. mai ',
])('a text full of %j is read in time', (piece) => {
  const startedMs = spentMs()
  recogniseDates(piece.repeat(Math.ceil(2_000 / piece.length)), clock)
  expect(spentMs() - startedMs).toBeLessThan(4_000)
})

test('a short question that looks like another language keeps its English days', () => {
  expect(recogniseDates('Annex electricity in March 2025', clock)).toMatchObject([{ first: '2025-03-01' }])
  expect(recogniseDates('available suites yesterday', clock)).toMatchObject([{ first: '2025-06-14' }])
  expect(recogniseDates('lieferungen am 3. märz 2025', clock)).toMatchObject([{ first: '2025-03-03' }])
})
