/** Kind of value that a span can stand for. */
export type ValueKind = 'values' | 'number' | 'date' | 'time' | 'boolean' | 'text'

/** Type that a span of a text can be read as. Slots over the same column share one, and so its words and its mask. */
export type ValueType = {
  key: string
  kind: ValueKind
  /** The words that stand for a value in a masked text: `<customer name>`. */
  label: string
  /** Its words, as texts are compared. */
  labelStems: Set<string>
  /** Shape of a matching identifier, where the schema gives one. */
  pattern: { test(text: string): boolean } | null
  /** A day that has an hour, too. */
  isInstant: boolean
  /** A month, written `2026-11`. */
  isMonth: boolean
}
