import { isFunctionWord, type Linked, type Word } from '../../language/index.ts'
import { wordsAround, type Gap, type QueryReading } from './gap.ts'
import type { Slot } from '../project.ts'

/**
 * "Dangerous goods to France", where nobody knows France: without it the answer would be of all countries. Only a name,
 * where the query's own texts have a value: most words that a query never says ask for nothing.
 */
export function unknownValue({ linked, query, texts, existing }: QueryReading, slot: Slot): Gap[] | null {
  if (slot.type.kind !== 'values') return null
  const named = texts.flatMap(({ linked: own, shape: { marks } }) =>
    marks.filter(({ type }) => type.key === slot.type.key).map(({ span }) => own.words[span.from - 1]?.stem ?? ''),
  )
  const before = new Set(named)
  const name = linked.words.find((word, at) => {
    const previous = linked.words[at - 1]
    if (previous === undefined || !before.has(previous.stem)) return false
    return isName(linked, word, previous) && !query.said.has(word.stem) && !isRead(linked, at)
  })
  return name === undefined
    ? null
    : [
        {
          slot: slot.name,
          message: `has no such value: “${wordsAround(linked, name)}”${whatThereIs(existing.get(slot.type.key))}`,
          isOpposed: false,
        },
      ]
}

function whatThereIs(known: { values: string[]; count: number } | undefined): string {
  if (known === undefined || known.count === 0) return ''
  const more = known.count - known.values.length
  return `; there are ${known.values.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const capital = /\p{Lu}/u

/** Where every word begins with a capital letter none is a name for that. */
function isName({ text }: Linked, word: Word, previous: Word): boolean {
  return (
    capital.test(text.charAt(word.start)) && !capital.test(text.charAt(previous.start)) && !isFunctionWord(word.text)
  )
}

function isRead({ spans, weak }: Linked, at: number): boolean {
  return [...spans, ...weak].some(({ from, to }) => from <= at && at < to)
}
