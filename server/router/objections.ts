import { writeCommandIn, superlativesIn, words } from '../language/index.ts'
import type { Filled } from './filling/fill.ts'
import type { IndexedQuery, ProjectIndex } from './project/project-index.ts'
import { spoken } from './project/project.ts'
import type { Asked } from './ranking/evidence.ts'

/**
 * Why a query that looks nearest would answer something else than was asked, in words for who asks. Likeness does not
 * see it: "the smallest orders" and "the biggest orders" are nearly the same text.
 */
export function objectionTo(
  index: ProjectIndex,
  { linked }: Asked,
  { query: { name }, from, to }: IndexedQuery,
  { gaps }: Filled,
): string | null {
  const opposed = gaps.find(({ isOpposed }) => isOpposed)
  if (opposed !== undefined) return `${name} comes nearest, but its ${opposed.slot} ${opposed.message}.`
  const own = (): ReturnType<typeof words> => [
    ...index.texts.slice(from, to).flatMap((text) => text.linked.words),
    ...words(spoken(name)),
  ]
  const command = writeCommandIn(linked.text)
  if (command !== null && !own().some(({ text }) => text === command) && !index.rulesOff.has('commands')) {
    return `A question only reads: nothing can ${command} anything.`
  }
  const said = superlativesIn(linked.words)
  if (said.length === 0) return null
  const known = superlativesIn(own())
  const other = said.find(
    ([order, end]) =>
      known.some(([its, side]) => its === order && side !== end) &&
      !known.some(([its, side]) => its === order && side === end) &&
      !said.some(([its, side]) => its === order && side !== end),
  )
  if (other === undefined || index.rulesOff.has('other end of an order')) return null
  return `${name} comes nearest, but is about the other end than “${other[2]}”.`
}
