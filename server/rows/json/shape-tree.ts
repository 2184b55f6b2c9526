/** The shape at one place of the rows: which kinds of values, and how large the numbers were. */
export type Shape = {
  kinds: number
  /** Most digits before and after the point, over all numbers. */
  intDigits: number
  scale: number
  /** Every number comes back from a double as it was sent. */
  doubleExact: boolean
  /** Whole numbers: the largest magnitude, once it may not fit 64 bits. */
  largest: bigint
  /** The kinds that fit all texts so far. */
  texts: number
  /** By key, in the order the keys were first seen; `others` for those beyond the most that are told apart. */
  fields: Map<string, Shape>
  others: Shape | null
  items: Shape | null
  /** How the reader of keys finds its way through the objects here. */
  root: KeyNode | null
  loose: KeyNode | null
}

/** The state after a sequence of keys. `raw` is the last key as sent, with its quotes. */
export type KeyNode = {
  raw: Uint8Array
  name: string
  parent: KeyNode | null
  /** Whose keys these are, and what stands under the last one. */
  owner: Shape
  shape: Shape
  next: KeyNode | null
  known: Map<string, KeyNode> | null
}
