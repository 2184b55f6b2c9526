import { make } from './dom.ts'
import type { Answer } from './service.ts'
import { say, type Texts } from './texts.ts'
import { textOf, timeText, titleOf } from './values.ts'

/** What was understood of a question, from which words, and what was not taken into account. */
export function showUnderstood(
  { query_used: name, parameters, routing, as_of: asOf }: Answer,
  { texts, language }: { texts: Texts; language: string },
): HTMLElement {
  const { candidates = [], sources = {}, read_as: readAs = null, period = null } = routing ?? {}
  const description = candidates.find((each) => each.name === name)?.description ?? titleOf(name)
  const values = Object.entries(parameters)
    .filter(([, value]) => value !== null)
    .map(([slot, value]) => {
      const text = Array.isArray(value)
        ? value.map((each) => textOf(each, language)).join(', ')
        : textOf(value, language)
      const words = sources[slot]?.text
      // Said as it stands, it needs no explanation.
      const isPlain = words === undefined || words.toLowerCase() === text.toLowerCase()
      const from = isPlain ? null : ` ${say(texts.inQuestion, { words })}`
      const item = make('li', {}, make('strong', {}, `${titleOf(slot)}: `), text)
      if (from !== null) item.append(make('span', { class: 'from' }, from))
      return item
    })
  return make(
    'div',
    { class: 'told', part: 'understood' },
    make('p', {}, make('strong', {}, `${texts.understood}: `), description),
    period === null ? null : make('p', { class: 'from' }, period.text),
    values.length === 0 ? null : make('ul', {}, ...values),
    readAs === null ? null : make('p', { class: 'from' }, say(texts.corrected, { text: readAs })),
    asOf === null ? null : make('p', { class: 'from' }, say(texts.asOf, { time: timeText(asOf, language) })),
  )
}

/** The first line of an answer that may leave something out; null for one that does not. */
export function showCaveat({ routing, unexpressed = [] }: Answer, texts: Texts): HTMLElement | null {
  const left = [...new Set([...unexpressed, ...(routing?.unused ?? [])].map(({ text }) => text))]
  return left.length === 0 ? null : make('p', { class: 'left' }, say(texts.mayLeaveOut, { words: quoted(left) }))
}

/** Values of an empty answer that no row has, with the nearest that there are. */
export function showUnknown({ warnings = [] }: Answer, texts: Texts): HTMLElement[] {
  return warnings.map(({ slot, value, nearest }) => {
    const said = say(texts.unknownValue, { value, slot: titleOf(slot) })
    const instead = nearest.length === 0 ? '' : ` ${say(texts.nearest, { values: nearest.join(', ') })}`
    return make('p', { class: 'left' }, `${said}${instead}`)
  })
}

export function quoted(words: string[]): string {
  return words.map((word) => `“${word}”`).join(', ')
}
