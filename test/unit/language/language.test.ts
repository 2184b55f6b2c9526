import { expect, test } from 'vitest'
import { languageOf } from '../../../server/language/words/language.ts'

test.each([
  ['wie viele mitarbeiter haben wir', 'de'],
  ['combien de clients avons-nous dans le nord', 'fr'],
  ['cuántos pedidos hay este mes', 'es'],
  ['quanti ordini abbiamo nel nord', 'it'],
  ['hoeveel klanten hebben wij', 'nl'],
  ['quantos pedidos temos', 'pt'],
  ['umsatz im letzten monat', 'de'],
  ['Welche Kunden haben im März bestellt', 'de'],
  ['quels produits sont en rupture de stock', 'fr'],
  ['entregas del 3 de mayo de 2025', 'es'],
  ['vendite della settimana scorsa', 'it'],
  ['leveringen op 3 mei 2025', 'nl'],
  ['mostre todas as faturas em aberto', 'pt'],
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

const ofTheProject = new Set(['revenue', 'net', 'session', 'count', 'deal', 'open'])

test.each(['net revenue 2025', 'count sessions 2025', 'open deals', 'revenue ytd'])(
  '%j is none where the project knows its words',
  (text) => {
    expect(languageOf(text, (word) => !ofTheProject.has(word))).toBeNull()
  },
)

test('a word that the project does not know may still be of another language', () => {
  expect(languageOf('umsatz im letzten monat', (word) => !ofTheProject.has(word))).toBe('de')
})
