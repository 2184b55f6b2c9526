import { describe, expect, test } from 'vitest'
import { openAnswerReader } from '../../../bench/answer-reader.ts'
import {
  apart,
  isMet,
  missedText,
  ratioOf,
  repeatText,
  replacePart,
  tableOf,
  type Figure,
} from '../../../bench/report.ts'

const figure: Figure = {
  what: 'lookup',
  against: 'bare',
  ours: '20/s',
  theirs: '10/s',
  value: 2,
  unit: '×',
  goal: { atLeast: 1.5 },
}

test('a goal is met at its bound, unless less is asked for', () => {
  expect(isMet({ value: 1, goal: { atLeast: 1 } })).toBe(true)
  expect(isMet({ value: 0.99, goal: { atLeast: 1 } })).toBe(false)
  expect(isMet({ value: 1, goal: { atMost: 1 } })).toBe(true)
  expect(isMet({ value: 1.01, goal: { atMost: 1 } })).toBe(false)
  expect(isMet({ value: 50, goal: { less: 50 } })).toBe(false)
  expect(isMet({ value: NaN, goal: { atLeast: 1 } })).toBe(false)
})

test('a ratio is that of neighbours: a machine that slows down for both changes nothing', () => {
  expect(ratioOf([100, 10, 1], [50, 5, 0.5])).toBe(2)
})

test('two runs are compared by the share that they are apart', () => {
  expect(apart(1, 1)).toBe(0)
  expect(apart(0.9, 1.1)).toBeCloseTo(0.2)
  expect(apart(0, 0)).toBe(0)
})

test('missed goals are named, with where the reasons are', () => {
  expect(missedText([figure])).toBe('No goal is missed.')
  expect(missedText([figure, { ...figure, value: 1 }])).toMatch(/bench\/notes\.md\): lookup \(bare\)\.$/)
})

describe('the table', () => {
  test('has a line for each figure with its verdict', () => {
    const table = tableOf([figure, { ...figure, value: 1, what: 'other' }], null)
    expect(table.split('\n')).toEqual([
      '| what | against, in the same run | ours | theirs | figure | goal | met |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| lookup | bare | 20/s | 10/s | 2.00× | ≥ 1.5× | yes |',
      '| other | bare | 20/s | 10/s | 1.00× | ≥ 1.5× | **no** |',
    ])
  })

  test('of two runs says what the second gave, and names the ratios that it did not give again', () => {
    const again = { ...figure, value: 1 }
    expect(tableOf([figure], [again])).toContain('| 1.00× (67 % apart) |')
    expect(tableOf([figure], [])).toContain('| not measured |')
    expect(repeatText([figure], [figure])).toBe('Of 1 ratios, the second run gave 1 again within 15 %.')
    expect(repeatText([figure], [again])).toContain('gave 0 again within 15 %; not: lookup (bare).')
    expect(repeatText([{ ...figure, unit: 'MB' }], [{ ...again, unit: 'MB' }])).toContain('Of 0 ratios')
  })
})

test('what people wrote on the page stays when the figures are written anew', () => {
  const page = 'before\n\n<!-- figures: written by npm run bench -->\nold\n<!-- end of figures -->\n\nafter\n'
  const written = replacePart(page, 'figures', 'new')
  expect(written).toBe(
    'before\n\n<!-- figures: written by npm run bench -->\n\nnew\n\n<!-- end of figures -->\n\nafter\n',
  )
  expect(replacePart(written, 'figures', 'new')).toBe(written)
  expect(() => replacePart('nothing', 'figures', 'new')).toThrow('has no part "figures"')
})

describe('the caller knows an answer is whole', () => {
  const answers = {
    'by its length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'without a body': 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    'by its last chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  }

  test.each(Object.entries(answers))('%s, in whatever pieces it comes', (_, text) => {
    for (let size = 1; size <= text.length; size += 1) {
      let whole = 0
      const read = openAnswerReader(
        () => (whole += 1),
        (why) => expect.unreachable(why),
      )
      for (let times = 0; times < 2; times += 1) {
        for (let at = 0; at < text.length; at += size) read(Buffer.from(text.slice(at, at + size)))
        expect(whole).toBe(times + 1)
      }
    }
  })

  test('that comes in chunks, of which one ends as the last does', () => {
    let whole = 0
    const read = openAnswerReader(
      () => (whole += 1),
      (why) => expect.unreachable(why),
    )
    read(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\na0\r\n\r\n'))
    expect(whole).toBe(0)
    read(Buffer.from('0\r\n\r\n'))
    expect(whole).toBe(1)
    read(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'))
    expect(whole).toBe(2)
  })

  test('and gives up at one that is no success', () => {
    let refused = ''
    openAnswerReader(
      () => expect.unreachable(),
      (why) => (refused = why),
    )(Buffer.from('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n'))
    expect(refused).toContain('429')
  })
})
