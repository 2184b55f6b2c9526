/** A question as it would be asked on its own, and the words in it that gave each value. */
export type WholeQuestion = { text: string; words: Record<string, string> }

/** The parts of an answer that explain its question. */
type Followed = { changed: string[] | null; routing: { sources: Record<string, { text: string }> } }

/**
 * The meaning of a question without the one before it: itself, or for a follow-up the earlier one with the words that it
 * changed. Null where words cannot tell, as of a condition that it adds: then somebody has to write it.
 */
export function wholeQuestion(question: string, result: Followed, before: WholeQuestion | null): WholeQuestion | null {
  const words = Object.fromEntries(Object.entries(result.routing.sources).map(([slot, { text }]) => [slot, text]))
  if (result.changed === null) return { text: question, words }
  if (before === null) return null
  let { text } = before
  for (const slot of result.changed) {
    const [old, now] = [before.words[slot], words[slot]]
    if (old === undefined || now === undefined || text.split(old).length !== 2) return null
    text = text.replace(old, () => now)
  }
  return { text, words: { ...before.words, ...words } }
}
