import type { Value } from '../../api/wire-codec.ts'
import type { moveEngine } from '../../api/engine-moves.ts'
import { invalidField } from '../failure.ts'
import type { QueryText } from '../queries/index.ts'

/** The author's wish for one text. */
export type Wish = Value<typeof moveEngine>['queries'][number]

export type TextWish = { text: QueryText; wish: Wish }

/** Wishes for every text. A query that is left out is left out with all its texts. */
export function wishesOf(texts: readonly QueryText[], wishes: readonly Wish[]): TextWish[] {
  const left = new Set(wishes)
  const excluded = new Set(wishes.filter(({ exclude }) => exclude).map(({ name }) => name))
  const found = texts.map((text): TextWish => {
    const { name } = text.draft
    const wish = wishes.find((each) => each.name === name && isOf(each, text))
    if (wish !== undefined) left.delete(wish)
    const own = wish ?? { name, parameters: [], accept: [], exclude: false }
    return { text, wish: { ...own, exclude: excluded.has(name) } }
  })
  const strange = [...left].find(({ name, exclude }) => !(exclude && texts.some(({ draft }) => draft.name === name)))
  if (strange === undefined) return found
  const which = strange.version === undefined ? strange.name : `${strange.name}, version ${strange.version}`
  throw invalidField('queries', `name ${which}, of which there is nothing to move`, {
    message: `There is nothing to move of ${which}: no such query, or it is written for the other engine, or that version answers nowhere or has the text of the draft.`,
  })
}

function isOf({ version }: Wish, { isDraft, places }: QueryText): boolean {
  return version === undefined ? isDraft : !isDraft && places.some(({ number }) => number === version)
}
