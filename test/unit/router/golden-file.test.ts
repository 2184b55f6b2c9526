import { expect, test } from 'vitest'
import { compareGolden, formatGolden, parseGolden, type GoldenLine } from '../../../bench/routing/golden-file.ts'

const line = (question: string, outcome: string): GoldenLine => ({ key: `set\tproject\t0\t${question}`, outcome })
const before = [line('how many', 'answer\tcount\t{}'), line('who', 'no_match\tpeople\t'), line('who', 'ambiguous\t\t')]

test('a file read back is what was written, questions with the same words included', () => {
  expect(parseGolden(formatGolden(before))).toEqual(before)
  expect(compareGolden(before, parseGolden(formatGolden(before)))).toEqual([])
})

test('what moved is named with both outcomes, and so is what only one side has', () => {
  const after = [
    line('how many', 'answer\tcount\t{"n":1}'),
    line('who', 'no_match\tpeople\t'),
    line('when', 'ambiguous'),
  ]
  expect(compareGolden(before, after)).toEqual([
    { key: 'set\tproject\t0\thow many', before: 'answer\tcount\t{}', after: 'answer\tcount\t{"n":1}' },
    { key: 'set\tproject\t0\twhen', before: null, after: 'ambiguous' },
    { key: 'set\tproject\t0\twho', before: 'ambiguous\t\t', after: null },
  ])
})
