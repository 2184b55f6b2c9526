/**
 * Questions that name a value of the project and ask for something else altogether, to learn from. Other words than the
 * router's own bank of far-away questions has: that one is compared with when a question is asked.
 */
const templates = [
  'how tall is {}',
  'turn {}',
  'i hate {}',
  'who is afraid of {}',
  'a day trip to {}',
  '{} near me',
  'how do i cook {}',
  'is {} worth a visit',
  'what is so special about {}',
  'draw a map of {}',
  '{} in german please',
  'can you sing about {}',
  'which {} is the nicest',
  'how do i get from here to {}',
  'what language do they speak in {}',
  'book a table at {}',
  'call {} for me',
  'do you know {}',
  'i dreamt of {} last night',
  'best {} in the world',
  'cheap {} deals',
  'does {} have a dog',
  'how heavy is {}',
  'my favourite is {}',
  'remind me of {} tomorrow',
  'should i marry {}',
  'the smell of {}',
  'what does {} look like',
  'what would you do without {}',
  'when will {} end',
  'why do people love {}',
  'who came up with {}',
  'facts about {}',
  '{} quiz',
  'a gift for {}',
  'open {}',
]

/** Some of them, each with one of the values; the same ones every time. */
export function nameValues(values: string[], most: number): string[] {
  if (values.length === 0) return []
  const all = templates.map((template, at) => template.replace('{}', values[at % values.length] ?? ''))
  const step = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(most, all.length) }, (_, at) => all[Math.floor(at * step)] ?? '')
}
