import { expect, test } from 'vitest'
import { languageOf } from '../../../server/questions/reading/language.ts'

test.each([
  ['wie viele mitarbeiter haben wir', 'de'],
  ['combien de clients avons-nous dans le nord', 'fr'],
  ['cuántos pedidos hay este mes', 'es'],
  ['quanti ordini abbiamo nel nord', 'it'],
  ['hoeveel klanten hebben wij', 'nl'],
  ['quantos pedidos temos', 'pt'],
  ['сколько заказов было вчера', 'other'],
  ['今月の売上はいくらですか', 'other'],
])('%j is %s', (text, language) => {
  expect(languageOf(text)).toBe(language)
})

test.each([
  'how many orders do we have',
  'orders of Jörg Müller',
  'shops in San Sebastián',
  'revenue in Den Haag',
  'El Paso sales',
  'die hard ratings',
  'top 5',
  '🦆',
  'show me what der Spiegel ordered',
])('%j is no other language', (text) => {
  expect(languageOf(text)).toBeNull()
})
