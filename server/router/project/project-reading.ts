import type { Card } from './card.ts'

/**
 * The reader's part in a project: choose and refuse; answer what the router would refuse, where nothing is known
 * of how it reads there; or only say what an answer leaves out.
 */
export type Trust = 'chooses' | 'rescues' | 'comments'

/** The reader's view of a project: its cards, and how far it is believed there. */
export type ProjectReading = {
  cards: Card[]
  trust: Trust
  /** Logits of the project's own questions by what was read: what makes a second build cheap. */
  matches: Map<string, number>
}
