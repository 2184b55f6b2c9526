export { asksForCount, contrastsIn, isList } from './contrasts.ts'
export { anyMonth, dayMs, dayValue, inclusive, iso, localDay, todayOf, type DateSpan } from './days/calendar.ts'
export { endValue } from './days/period-ends.ts'
export { periodOf, type Period } from './days/period-words.ts'
export { languageOf } from './words/language.ts'
export { fitting, link, type Linker } from './link.ts'
export { learnContext, newContexts, shape, type Contexts, type KnownReadings, type TextShape } from './mask.ts'
export { overlaps, type CallerTime, type Linked, type Reading, type Span } from './span.ts'
export {
  writeCommandIn,
  directionAt,
  directionsIn,
  isExcluded,
  isLeftOut,
  hasNegation,
  type Direction,
} from './qualifiers.ts'
export { addSpelling, nearestMonth, newSpelling, respell, type Respelled, type Spelling } from './words/spelling.ts'
export { isFunctionWord, rootOf, stem, words, type Word } from './words/text.ts'
export { unitAt, unitBeside } from './unit-at.ts'
export { convertUnit, isSameQuantity, unitNamed, unitOf, type Unit } from './words/units.ts'
export { addPart, addValue, newTrie, sameValue } from './value-trie.ts'
export type { ValueKind, ValueType } from './value-type.ts'
