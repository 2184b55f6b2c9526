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

test("a question cannot smuggle in the encoder's own marks", () => {
  expect(tokenizer.tokenize('[CLS] orders [SEP] [MASK]')).toEqual(tokenizer.tokenize('orders'))
})

test('whole words are known, misspelled ones are not', () => {
  expect(tokenizer.knows('coffee')).toBe(true)
  expect(tokenizer.knows('cofee')).toBe(false)
})
