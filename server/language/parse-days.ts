import { de, en, es, fr, it, nl, pt } from 'chrono-node'
import { anyMonth } from './calendar.ts'
import { languageOf } from './language.ts'
import { dayFirstDays } from './written-days.ts'

// Parsing costs more than all other recognisers together: most questions name no day, and this finds out at once.
const dayWord = new RegExp(
  String.raw`\d|day|night|noon|morning|morrow|tmr|evening|week|month|year|hour|ago|now|${anyMonth}|\b(?:mon|tue|wed|thu|fri|sat|sun)\b`,
  'iu',
)
const betweenDays = /(\bbetween\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\s+)and(?=\s+\d{1,2}(?:st|nd|rd|th)?\s+\p{L})/giu
// The parser would read "8am to 5" of "3 March 8am to 5 March": what leads from an hour to a day is hidden from it.
const hourToDay = new RegExp(
  String.raw`(?<=\d{1,2}(?::\d{2}){1,2}\s+|\d\s?[ap]\.?m\.?\s+)(?:to|until|till|through|and)(?=\s+(?:the\s+)?(?:\d{4}-\d{2}|\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:${anyMonth})|(?:${anyMonth})[a-z]*\.?\s+\d))`,
  'giu',
)
const otherLanguages = { de, fr, es, it, nl, pt }

/** In English, unless the words around the day speak for another language. */
export function parseDays(question: string, reference: Date): ReturnType<typeof en.casual.parse> {
  // What is read here is not for the parser, which takes months for first; the places in the text stay.
  let text = question
  for (const { 0: said, index } of dayFirstDays(question)) {
    text = text.slice(0, index) + ';'.repeat(said.length) + text.slice(index + said.length)
  }
  const language = languageOf(text)
  const isOther = language !== null && language !== 'other' && numbersIn(text) <= maxNumbers
  const found = isOther ? otherLanguages[language].casual.parse(text, reference, { forwardDate: false }) : []
  // A short English question may look like another language: it is not to lose its days for that.
  return found.length > 0 ? found : parseEnglish(text, reference)
}

function parseEnglish(text: string, reference: Date): ReturnType<typeof en.casual.parse> {
  if (!dayWord.test(text)) return []
  // The parser joins "3 to 5 May", not "3 and 5 May"; the places in the text stay.
  const joined = text.replaceAll(betweenDays, '$1to ').replaceAll(hourToDay, (said) => ';'.repeat(said.length))
  return en.casual.parse(joined, reference, { forwardDate: false })
}

// The Dutch parser takes a quarter of a second for thirty numbers of days in a row.
const maxNumbers = 12

function numbersIn(text: string): number {
  return text.match(/\d+/gu)?.length ?? 0
}
