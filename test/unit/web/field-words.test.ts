import { expect, test } from 'vitest'
import { ofField } from '../../../web/text/field-words.ts'

test.each([
  ['url', 'The address 10.0.0.1 is not public.', 'The address 10.0.0.1 is not public.'],
  ['url', 'must be an address', 'The address must be an address.'],
  ['parameters.category', 'must be text', 'Category must be text.'],
  ['rate_limit.per_minute', 'must be at least 1', 'Rate limit per minute must be at least 1.'],
])('what is said of %s, %s, is the sentence %s', (field, message, words) => {
  expect(ofField(field, message)).toBe(words)
})
