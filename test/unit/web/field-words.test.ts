import { expect, test } from 'vitest'
import { ofField } from '../../../web/text/field-words.ts'

test.each([
  ['url', 'The address 10.0.0.1 is not public.', 'The address 10.0.0.1 is not public.'],
  ['url', 'must be an address', 'The address must be an address.'],
  ['parameters.category', 'must be text', 'Category must be text.'],
  ['rate_limit.per_minute', 'must be at least 1', 'Rate limit per minute must be at least 1.'],
  ['examples.0.parameters.since', 'is not a slot of this query', 'Example 1 still uses since.'],
  ['examples.1.parameters.min', 'must be a number', 'Example 2: min must be a number.'],
])('what is said of %s, %s, is the sentence %s', (field, message, words) => {
  expect(ofField(field, message)).toBe(words)
})
