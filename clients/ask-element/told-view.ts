import { make } from './dom.ts'
import type { Answer } from './service.ts'
import { say, type Texts } from './texts.ts'
import { textOf, timeText, titleOf } from './values.ts'

/** What was understood of a question, from which words, and what was not taken into account. */
export function showUnderstood(
  { query_used: name, parameters, routing, unexpressed = [], as_of: asOf }: Answer,
  { texts, language }: { texts: Texts; language: string },
): HTMLElement {
  const { candidates = [], sources = {}, unused = [], read_as: readAs = null } = routing ?? {}
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
  const left = [...new Set([...unexpressed, ...unused].map(({ text }) => text))]
  return make(
    'div',
    { class: 'told', part: 'understood' },
    make('p', {}, make('strong', {}, `${texts.understood}: `), description),
    values.length === 0 ? null : make('ul', {}, ...values),
    readAs === null ? null : make('p', { class: 'from' }, say(texts.corrected, { text: readAs })),
    left.length === 0 ? null : make('p', { class: 'left' }, `${texts.leftOut}: ${quoted(left)}`),
    asOf === null ? null : make('p', { class: 'from' }, say(texts.asOf, { time: timeText(asOf, language) })),
  )
}

export function quoted(words: string[]): string {
  return words.map((word) => `“${word}”`).join(', ')
}
