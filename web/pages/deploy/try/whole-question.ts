/** A question as it would be asked on its own, and the words in it that gave each value. */
export type WholeQuestion = { text: string; words: Record<string, string> }

/** What an answer tells of the question that it was given for. */
type Followed = { changed: string[] | null; routing: { sources: Record<string, { text: string }> } }

/**
 * What a question means without the one before it: itself, or where it goes on from one, that one with the words that it
 * changed. Null where words cannot tell, as of a condition that it adds: then somebody has to write it.
 */
export function wholeQuestion(question: string, told: Followed, before: WholeQuestion | null): WholeQuestion | null {
  const words = Object.fromEntries(Object.entries(told.routing.sources).map(([slot, { text }]) => [slot, text]))
  if (told.changed === null) return { text: question, words }
  if (before === null) return null
  let { text } = before
  for (const slot of told.changed) {
    const [old, now] = [before.words[slot], words[slot]]
    if (old === undefined || now === undefined || text.split(old).length !== 2) return null
    text = text.replace(old, () => now)
  }
  return { text, words: { ...before.words, ...words } }
}
