import { asksForCount, contrastsIn, hasNegation, isList, words, writeCommandIn } from '../../language/index.ts'
import type { Filled } from '../filling/fill.ts'
import type { IndexedQuery, ProjectIndex } from '../project/project-index.ts'
import { spoken } from '../project/project.ts'
import type { Asked } from '../ranking/evidence.ts'

/**
 * Why a query that looks nearest would answer something else than was asked, in words for who asks. Likeness does not
 * see it: "the smallest orders" and "the biggest orders" are nearly the same text.
 */
export function objectionTo(
  index: ProjectIndex,
  { linked }: Asked,
  query: IndexedQuery,
  { gaps }: Filled,
): string | null {
  const { name } = query.query
  const opposed = gaps.find(({ isOpposed }) => isOpposed)
  if (opposed !== undefined) return `${name} comes nearest, but its ${opposed.slot} ${opposed.message}.`
  const own = (): ReturnType<typeof words> => [
    ...index.texts.slice(query.from, query.to).flatMap((text) => text.linked.words),
    ...words(spoken(name)),
  ]
  const command = writeCommandIn(linked.text)
  if (command !== null && !own().some(({ text }) => text === command) && !index.rulesOff.has('commands')) {
    return `A question only reads: nothing can ${command} anything.`
  }
  if (asksForCount(linked.text) && isList(own()) && !index.rulesOff.has('count of a list')) {
    return `${name} comes nearest, but lists what it finds and does not count it.`
  }
  const other = contraryTo(linked, own, query)
  if (other === undefined) return null
  if (other.isOrder) {
    return index.rulesOff.has('other end of an order')
      ? null
      : `${name} comes nearest, but is about the other end than “${other.text}”.`
  }
  return index.rulesOff.has('contrary of a query') ? null : `${name} comes nearest, but is not about “${other.text}”.`
}

/** Words of the question whose contrary alone the query is about: "closed", of one about open tickets. */
function contraryTo(
  linked: Asked['linked'],
  own: () => ReturnType<typeof words>,
  query: IndexedQuery,
): ReturnType<typeof contrastsIn>[number] | undefined {
  // "Not yet paid" is unpaid.
  const isDenied = hasNegation(linked) || linked.words.some(({ text }) => text === 'nobody' || text === 'yet')
  const said = contrastsIn(linked.words).filter(({ isOrder }) => isOrder || !isDenied)
  if (said.length === 0) return undefined
  const known = contrastsIn(own())
  // A slot may take either side, and says so in its words.
  const taken = contrastsIn(query.slots.flatMap(slotWords))
  return said.find(({ row, side, isOrder }) => {
    const its = (isOrder ? known : [...known, ...taken]).filter((each) => each.row === row)
    const isAmongOthers = said.some((each) => each.row === row && each.side !== side)
    return its.length > 0 && !its.some((each) => each.side === side) && !isAmongOthers
  })
}

function slotWords({ name, rules }: IndexedQuery['slots'][number]): ReturnType<typeof words> {
  const { title, description, choices } = rules
  return words(
    [spoken(name), title ?? '', description, ...choices.map((choice) => `${String(choice)} by ${String(choice)}`)].join(
      ' . ',
    ),
  )
}
