import { describe, expect, test } from 'vitest'
import { addSpelling, newSpelling, respell, type Respelled } from '../../../server/language/index.ts'

const spelling = newSpelling()
for (const word of ['reservations', 'campus', 'branch', 'titles', 'borrowed', 'loans', 'loads'])
  addSpelling(spelling, word)
const known = new Set('ready collect poetry the by in of and'.split(' '))

function put(text: string): Respelled | null {
  return respell(text, spelling, {
    isStrange: (word) => !known.has(word) && !spelling.get(word.length)?.has(word),
    isTaken: ({ start }) => text.slice(start).startsWith('Nortgate'),
  })
}

test.each([
  ['resrvations ready by campus brnach', 'reservations ready by campus branch'],
  ['how mnay titels in setpember', 'how many titles in september'],
  ['averge by mounth', 'average by month'],
  ['Resrvations of febuary', 'reservations of february'],
])('%j is read as %j', (text, meant) => {
  expect(put(text)?.text).toBe(meant)
})

describe('left as they are', () => {
  test.each([
    ['names with a capital letter', 'loans of Septmeber'],
    ['what is a value already', 'loans of Nortgate'],
    ['words that could be two others', 'loaes'],
    ['words that are like none', 'loans of zyxwvut'],
    ['short words', 'hw of teh'],
    ['texts full of strange words', 'resrvations brnach titels borowed setpember octobre novmber'],
  ])('%s: %j', (_, text) => {
    expect(put(text)).toBeNull()
  })
})

test('places lead back to the words as they were written', () => {
  const text = 'resrvations at the brnach now'
  const spelled = put(text)
  const start = spelled?.text.indexOf('branch') ?? -1
  const place = spelled?.placeOf({ start, end: start + 'branch'.length }) ?? { start: 0, end: 0 }
  expect(text.slice(place.start, place.end)).toBe('brnach')
  const now = spelled?.text.indexOf('now') ?? -1
  const last = spelled?.placeOf({ start: now, end: now + 3 }) ?? { start: 0, end: 0 }
  expect(text.slice(last.start, last.end)).toBe('now')
})
