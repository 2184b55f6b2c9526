import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readTokenizer } from '../../../server/router/encoder/tokenizer.ts'

// Made with the reference implementation of the tokenizer file's own format (the `tokenizers` package for Python).
const known = JSON.parse(await readFile(new URL('./tokenizer-ids.json', import.meta.url), 'utf8')) as {
  text: string
  ids: number[]
}[]
const tokenizer = await readTokenizer('models/question-encoder/tokenizer.json')

test.each(known)('the ids of $text are those of the reference implementation', ({ text, ids }) => {
  expect(tokenizer.tokenize(text)).toEqual(ids)
})

test.each(known.filter(({ ids }) => ids.length < 100))(
  'the pieces of $text have the same ids, in places of it',
  ({ text, ids }) => {
    const pieces = tokenizer.pieces(text)
    expect(pieces.map(({ id }) => id)).toEqual(ids.slice(1, -1))
    let reached = 0
    for (const { start, end } of pieces) {
      expect(start).toBeGreaterThanOrEqual(reached)
      expect(end).toBeLessThanOrEqual(text.length)
      reached = start
    }
  },
)

test('the places of plain words are those they have beside other letters', () => {
  const text = 'Orders of AC-204518,  not[SEP]shipped (unbelievably) by 3 May?'
  const beside = tokenizer.pieces(`${text} é`)
  expect(tokenizer.pieces(text)).toEqual(beside.slice(0, -1))
})

test("a question cannot smuggle in the encoder's own marks", () => {
  expect(tokenizer.tokenize('[CLS] orders [SEP] [MASK]')).toEqual(tokenizer.tokenize('orders'))
})

test('whole words are known, misspelled ones are not', () => {
  expect(tokenizer.knows('coffee')).toBe(true)
  expect(tokenizer.knows('cofee')).toBe(false)
})
