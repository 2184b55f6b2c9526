import type { ScalarSlotSchema, SlotsSchema } from '../../api/slots.ts'

/** Values of slots as a URL carries them: texts, several of one name for a list. */
export type TextValues = ReadonlyMap<string, readonly string[]>

/** What an address says beyond the slots: where it goes and how the answer looks. */
export const addressWords: ReadonlySet<string> = new Set(['project_id', 'environment', 'format'])
/** Before the name of a slot that is called like one of these. */
export const slotPrefix = 'slot.'

/** The name of a slot in an address. */
export function slotParameter(name: string): string {
  return addressWords.has(name) ? `${slotPrefix}${name}` : name
}

/**
 * The values that texts stand for, by the slots of the version that is called. What cannot be read stays the text it is,
 * so that the check of slots says what is wrong with it.
 */
export function valuesOfTexts({ properties }: SlotsSchema, texts: TextValues): Record<string, unknown> {
  return Object.fromEntries(
    [...texts].map(([name, given]): [string, unknown] => {
      const slot = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (slot?.type === 'array') return [name, given.map((text) => valueOf(slot.items, text))]
      const [first = '', ...others] = given
      if (others.length > 0) return [name, given]
      return [name, slot === undefined ? first : valueOf(slot, first)]
    }),
  )
}

function valueOf({ type }: ScalarSlotSchema, text: string): unknown {
  if (type === 'string') return text
  // A form sends what nobody filled in as nothing.
  if (text === '') return null
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'integer') return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
}
