import { CommandFailure } from '../../terminal/exit.ts'

/** Values of slots as they are typed: `name=value`. */
export function valuesOf(pairs: string[]): Array<[name: string, value: string]> {
  return pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at >= 1) return [pair.slice(0, at), pair.slice(at + 1)]
    throw new CommandFailure('usage', `${pair} is no value: write name=value.`, {
      hint: 'sluice call sales_by_region region=north',
    })
  })
}

type Schema = { type?: unknown }

/** Words as the types of the slots want them; a list is given by repeating its name. */
export function typedValues(pairs: Array<[string, string]>, slots: Record<string, Schema>): Record<string, unknown> {
  const given = new Map<string, string[]>()
  for (const [name, word] of pairs) given.set(name, [...(given.get(name) ?? []), word])
  return Object.fromEntries(
    [...given].map(([name, words]) => {
      const { type, items } = (slots[name] ?? {}) as Schema & { items?: Schema }
      if (type === 'array') return [name, words.map((word) => typed(word, items?.type))]
      return [name, typed(words.at(-1) ?? '', type)]
    }),
  )
}

/** A word that is not of its type goes as it is: the refusal of the service says what is right. */
function typed(word: string, type: unknown): unknown {
  if ((type === 'number' || type === 'integer') && word.trim() !== '' && Number.isFinite(Number(word))) {
    return Number(word)
  }
  if (type === 'boolean' && (word === 'true' || word === 'false')) return word === 'true'
  return word
}
