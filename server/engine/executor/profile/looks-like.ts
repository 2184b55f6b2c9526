import type { Column, LooksLike } from '../socket/protocol.ts'

/** So many of the sampled values must agree. */
const share = 0.95

const patterns: [LooksLike, RegExp][] = [
  ['email', /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/],
  ['url', /^(https?|ftp):\/\/\S+$/i],
  ['date', /^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ]\d{1,2}:\d{2}.*)?$/],
  ['currency', /^([$€£¥]\s?-?[\d.,]+|-?[\d.,]+\s?[$€£¥])$/],
  ['identifier', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i],
]

const identifierName = /(^|_)(id|uuid|guid|key|code|number|no)$/i
const moneyName = /(^|_)(price|amount|cost|fee|salary|revenue|balance)($|_)/i

/** A guess at what a column is about, for people who look at it and for questions that ask about it. */
export function looksLike(
  column: Column & { distinctCount: number; nullCount: number },
  rowCount: number,
  sample: string[],
): LooksLike | null {
  const { name, type } = column
  if (/^(DATE|TIMESTAMP)/.test(type)) return 'date'
  if (sample.length === 0 || type === 'BOOLEAN') return null
  const isText = type === 'VARCHAR'
  const found = isText ? patterns.find(([, pattern]) => agrees(sample, (value) => pattern.test(value))) : undefined
  if (found !== undefined) return found[0]
  if (isText && agrees(sample, isCurrency)) return 'currency'
  if (isText && agrees(sample, isCountry)) return 'country'
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2')
  const present = rowCount - column.nullCount
  const isUnique = present > 1 && column.distinctCount >= present * 0.98
  if (isUnique && (isText || /INT/.test(type)) && identifierName.test(words)) return 'identifier'
  return !isText && /^(DECIMAL|DOUBLE|FLOAT)/.test(type) && moneyName.test(words) ? 'currency' : null
}

function agrees(sample: string[], test: (value: string) => boolean): boolean {
  return sample.filter(test).length >= sample.length * share
}

const currencies = new Set(Intl.supportedValuesOf('currency'))

function isCurrency(value: string): boolean {
  return currencies.has(value)
}

const regionNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
const countryNames = new Set<string>()

function isCountry(value: string): boolean {
  if (countryNames.size === 0)
    for (const code of twoLetterCodes()) countryNames.add(regionNames.of(code)?.toLowerCase() ?? '')
  if (/^[A-Z]{2}$/.test(value)) return regionNames.of(value) !== undefined
  return value !== '' && countryNames.has(value.toLowerCase())
}

function twoLetterCodes(): string[] {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
  return letters.flatMap((first) => letters.map((second) => first + second))
}
