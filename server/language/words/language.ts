import { createRequire } from 'node:module'
import type * as Tinyld from 'tinyld'
import { isFunctionWord, words, type Word } from './text.ts'

/** The language a question is most likely written in; null where nothing speaks for another than English. */
export type Language = (typeof otherLanguages)[number] | 'other'

/** Those in which days are read, too. */
const otherLanguages = ['de', 'fr', 'es', 'it', 'nl', 'pt'] as const
const compared = ['en', ...otherLanguages]

const require = createRequire(import.meta.url)
let detector: typeof Tinyld | undefined

// Most letters of another script: whatever it says, it is not English.
const otherScript = /[\p{L}--\p{Script=Latin}]/gv
const anyLetter = /\p{L}/gu
// Names say nothing about the language they stand in.
const capitalised = /(?<!\p{L})\p{Lu}[\p{L}\p{M}’']*/gu

// More function words of English make it English, whatever else it looks like: nearly every question stops here.
const maxEnglishShare = 0.2
const minWords = 2
// So much tells the language as well as all of it; the detector's time grows with the text.
const maxChars = 200
// How much likelier than English another language must be: below, short English questions are taken for Dutch.
const minLead = 0.05

/**
 * A text whose words are all known, in English or to the project, is none of another language, however short: the
 * detector takes "net revenue 2025" for Dutch.
 */
export function languageOf(text: string, isStrange: (word: string) => boolean = () => true): Language | null {
  const letters = text.match(anyLetter)?.length ?? 0
  if (letters > 0 && (text.match(otherScript)?.length ?? 0) * 2 > letters) return 'other'
  const said = words(text)
  if (said.filter((word) => isFunctionWord(word.text)).length > maxEnglishShare * said.length) return null
  const unnamed = text.replaceAll(capitalised, ' ').slice(0, maxChars)
  const plain = words(unnamed)
  if (plain.length < minWords || plain.every((word) => !tells(word, isStrange))) return null
  // Loaded for the first text that needs it: few do, and it is a tenth of what a start loads.
  detector ??= require('tinyld') as typeof Tinyld
  const likely = detector.detectAll(unnamed, { only: compared })
  const [best] = likely
  const english = likely.find(({ lang }) => lang === 'en')?.accuracy ?? 0
  if (best === undefined || best.accuracy - english <= minLead) return null
  return otherLanguages.find((language) => language === best.lang) ?? null
}

// Shorter ones are as often shortened English: "ytd", "avg".
const letters = /^\p{L}{4,}$/u

function tells({ text, stem }: Word, isStrange: (word: string) => boolean): boolean {
  return letters.test(text) && isStrange(text) && isStrange(stem)
}
