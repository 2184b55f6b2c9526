import type { Card } from '../project/card.ts'

/** What the reader knows of a project: its cards, and from where on it may be believed there. */
export type ProjectReading = {
  cards: Card[]
  /** Whether it understands the project well enough to choose and to refuse. */
  isBelieved: boolean
  /** Where it is not: below this logit, which is worse than all its own examples, an answer says what it leaves out. */
  flagBelow: number
  /** What a logit below zero is raised by, because the reader misreads more here than elsewhere. */
  allowance: number
  /** Logits of the project's own examples by what was read: what makes a second build cheap. */
  matches: Map<string, number>
}
