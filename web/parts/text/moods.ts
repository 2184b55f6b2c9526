/** A check mark is for good news alone; what is neither good nor bad is `plain`. */
export type Mood = 'good' | 'plain' | 'caution' | 'bad'

/** A finding that a verdict is founded on. */
export type Part = { what: string; says: string; mood: Mood }

const worstFirst = ['bad', 'caution', 'plain', 'good'] as const

/** The mood of a whole: that of its worst part. */
export function worstOf(moods: Mood[]): Mood {
  return worstFirst.find((mood) => moods.includes(mood)) ?? 'plain'
}
