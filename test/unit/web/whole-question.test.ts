import { expect, test } from 'vitest'
import { wholeQuestion } from '../../../web/pages/ask/whole-question.ts'

function told(words: Record<string, string>, changed: string[] | null) {
  const sources = Object.fromEntries(Object.entries(words).map(([slot, text]) => [slot, { text }]))
  return { changed, routing: { sources } }
}

const first = wholeQuestion('sales in the east since March', told({ region: 'east', since: 'March' }, null), null)

test('a follow-up is the question before with the words that it changed, also when it goes on from another follow-up', () => {
  expect(first?.text).toBe('sales in the east since March')
  const second = wholeQuestion('and in the south?', told({ region: 'south' }, ['region']), first)
  expect(second?.text).toBe('sales in the south since March')
  const third = wholeQuestion('since April', told({ since: 'April' }, ['since']), second)
  expect(third?.text).toBe('sales in the south since April')
})

test('what cannot be told is left to whoever writes it', () => {
  expect(wholeQuestion('only new ones', told({ kind: 'new' }, ['kind']), first)).toBeNull()
  expect(wholeQuestion('everywhere', told({}, ['region']), first)).toBeNull()
  expect(wholeQuestion('and in the south?', told({ region: 'south' }, ['region']), null)).toBeNull()
  const twice = wholeQuestion('east of the east', told({ region: 'east' }, null), null)
  expect(wholeQuestion('and in the south?', told({ region: 'south' }, ['region']), twice)).toBeNull()
})
