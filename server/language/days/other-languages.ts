import type { ParsedResult, Parser, ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import type { Language } from '../words/language.ts'
import { dayMs } from './calendar.ts'
import { asOpen, dateParts, firstDay, lastDay, overlaps, todayIn, type Opening } from './components.ts'
import { dayParser } from './day-parser.ts'
import { movedBack } from './parts.ts'
import { mondayOf, widened } from './weeks.ts'

/** A language, where the library does not know it or reads less than is said. */
type Grammar = {
  /** Months that it reads only behind a day. */
  months?: string[]
  openings: Record<Opening, string>
  between: string
  and: string
  to: string
}

const article = "(?:d[eo]s?|d[eu]l?|la|les?|l['’]|el|il|os?|as?|het|dem|den|der|die|zum|1er)?"

const grammars: Record<Exclude<Language, 'other'>, Grammar> = {
  de: {
    months: 'januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember'.split('|'),
    openings: { since: 'seit|ab', after: 'nach', until: 'bis(?:\\s+einschließlich)?', before: 'vor' },
    between: 'zwischen',
    and: 'und',
    to: 'bis',
  },
  fr: {
    months: 'janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre'.split('|'),
    openings: { since: 'depuis|dès|à\\s+partir', after: 'après', until: "jusqu['’](?:au|en|à)", before: 'avant' },
    between: 'entre',
    and: 'et',
    to: 'au|à',
  },
  es: {
    openings: { since: 'desde|a\\s+partir', after: 'después', until: 'hasta', before: 'antes' },
    between: 'entre',
    and: 'y',
    to: 'al|a',
  },
  it: {
    openings: {
      since: "dal|dall['’]|da|a\\s+partire",
      after: 'dopo',
      until: "fino(?:\\s+all?['’]?)?",
      before: 'prima',
    },
    between: 'tra|fra',
    and: 'e',
    to: 'al|a',
  },
  nl: {
    openings: { since: 'sinds|vanaf', after: 'na', until: 'tot(?:\\s+en\\s+met)?', before: 'voor' },
    between: 'tussen',
    and: 'en',
    to: 'tot',
  },
  pt: {
    months: 'janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro'.split('|'),
    openings: { since: 'desde|a\\s+partir', after: 'depois', until: 'até', before: 'antes' },
    between: 'entre',
    and: 'e',
    to: 'ao|a',
  },
}

/** "im März 2025", "en octobre" */
export function monthsOf(language: Exclude<Language, 'other'>): Parser[] {
  const { months = [] } = grammars[language]
  if (months.length === 0) return []
  const named = new RegExp(
    `(?<![\\p{L}\\p{N}]|\\d\\.?\\s)(?<month>${months.join('|')})(?:\\s+(?:de\\s+)?(?<year>(?:19|20)\\d{2}))?(?![\\p{L}\\p{N}])`,
    'iu',
  )
  return [
    dayParser(named, (context, { index, 0: said, groups = {} }) => {
      const month = months.indexOf(groups['month']?.toLowerCase() ?? '') + 1
      const parts = context.createParsingComponents({ month }).imply('day', 1)
      if (groups['year'] !== undefined) parts.assign('year', Number(groups['year']))
      return context.createParsingResult(index, said, parts)
    }),
  ]
}

/** Weeks, counted days, stretches and open ends, which the library reads as one day. */
export function stretchesOf(language: Exclude<Language, 'other'>): Refiner {
  const { openings, between, and, to } = grammars[language]
  const range = new RegExp(
    `(?<![\\p{L}\\d.])(?:(?:${between})\\s+${article}\\s*(?<date>\\d{1,2})\\.?\\s+(?:${and})|(?<date>\\d{1,2})\\.?\\s+(?:${to}))\\s+${article}\\s*$`,
    'iu',
  )
  const opened = Object.entries(openings).map(([opening, words]) => ({
    opening: opening as Opening,
    before: new RegExp(`(?<!\\p{L})(?:${words})\\s*${article}\\s*$`, 'iu'),
  }))
  return {
    refine: (context, results) => {
      const read = results.map((result) => {
        const before = context.text.slice(0, result.index)
        const whole =
          weekOf(context, result) ?? countedBack(context, result) ?? from(context, result, range.exec(before))
        if (whole !== null) return whole
        const open = result.end ? undefined : opened.find((each) => each.before.test(before))
        return open === undefined ? result : asOpen(result, open.opening)
      })
      // "2 et" of "entre le 2 et le 6 novembre" is no hour.
      return read.filter(
        (part) => !read.some((other) => other !== part && other.index <= part.index && overlaps(part, other)),
      )
    },
  }
}

const week = /\b(?:woche|semaine|settimana|week|semana)\b/iu

/** "letzte Woche": from Monday to Sunday. */
function weekOf(context: ParsingContext, result: ParsingResult): ParsingResult | null {
  if (!week.test(result.text) || /\d/.test(result.text) || result.end) return null
  const first = mondayOf(firstDay(result))
  return widened(context, result, { index: result.index, first, last: new Date(first.getTime() + 6 * dayMs) })
}

const lately = /(?<!\p{L})(?:letzten?|vergangenen?|derni(?:er|ère)s?|afgelopen|laatste|ultim[ie]|últim[oa]s)(?!\p{L})/iu
const units: Array<[unit: string, said: RegExp]> = [
  ['day', /(?<!\p{L})(?:tagen?|jours?|dagen|giorni|d[ií]as)(?!\p{L})/iu],
  ['week', /(?<!\p{L})(?:wochen|semaines|settimane|weken|semanas)(?!\p{L})/iu],
  ['month', /(?<!\p{L})(?:monaten?|mois|mesi|maanden|meses)(?!\p{L})/iu],
  ['year', /(?<!\p{L})(?:jahren?|ans|années|anni|jaar|jaren|años|anos)(?!\p{L})/iu],
]

/** "die letzten 7 Tage": they end today. */
function countedBack(context: ParsingContext, result: ParsingResult): ParsingResult | null {
  const count = Number(/\d+/.exec(result.text)?.[0] ?? 0)
  const unit = units.find(([, said]) => said.test(result.text))?.[0]
  if (count === 0 || unit === undefined || !lately.test(result.text)) return null
  const last = todayIn(context)
  return widened(context, result, { index: result.index, first: movedBack(last, unit, count), last })
}

/** "del 2 al 6 de noviembre" */
function from(context: ParsingContext, result: ParsingResult, match: RegExpExecArray | null): ParsingResult | null {
  const last = lastDay(result)
  const date = Number(match?.groups?.['date'] ?? 0)
  if (match === null || !result.start.isCertain('day') || result.end || date === 0 || date >= dateParts(last).day)
    return null
  const first = new Date(last.getTime() - (dateParts(last).day - date) * dayMs)
  return widened(context, result, { index: match.index, first, last })
}

const bareYear = /^(?:19|20)\d{2}$/u
const beforeYear =
  /(?:^|[^\p{L}\s]|(?<!\p{L})(?:in|im|jahre?s?|en|an|année|año|ano|anno|nel|nell['’]|em|no|jaar|het|seit|ab|bis|vor|nach|depuis|avant|après|desde|hasta|sinds|tot|voor|na|vanaf|dal|prima|dopo|até|depois|und|et|y|e|ou|oder|zwischen|entre|tra|fra|tussen|von|du))\s*$/iu
const partBefore =
  /(?<!\p{L})(?:anfang|mitte|ende|hälfte|début|mi|fin|inicios?|principios|mediados|fin(?:al)?es|inizio|metà|fine|begin|midden|eind|início|meados|final|moitié|mitad|metade|helft)(?:[\s-]+(?:d[eiou]|del|des|van|do))?[\s-]+$/iu

/** "im dritten Quartal 2025", "Anfang Oktober": what stands before a year or a month makes less of it. */
export function wholePeriods(text: string, results: ParsedResult[]): ParsedResult[] {
  return results.filter((result) => {
    const before = text.slice(0, result.index)
    if (bareYear.test(result.text)) return beforeYear.test(before)
    return result.start.isCertain('day') || result.start.isCertain('weekday') || !partBefore.test(before)
  })
}
