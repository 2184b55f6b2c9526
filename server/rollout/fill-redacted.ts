import type { LiveVersion } from '../queries/index.ts'

/** In place of values that are kept out of the record: what an example has, or the first choice. */
export function fillRedacted(
  given: Record<string, unknown>,
  { slots, examples }: LiveVersion,
  redacted: ReadonlySet<string>,
): { parameters: Record<string, unknown>; missing: string | null } {
  const parameters = { ...given }
  for (const [name, slot] of Object.entries(slots.properties)) {
    const isOpen = redacted.has(name) && slots.required.includes(name) && slot.default === undefined
    if (!isOpen || Object.hasOwn(parameters, name)) continue
    const example = examples.find((each) => Object.hasOwn(each.parameters, name))?.parameters[name]
    const choice = 'enum' in slot ? slot.enum?.[0] : undefined
    const value = example ?? choice
    if (value === undefined) return { parameters, missing: name }
    parameters[name] = value
  }
  return { parameters, missing: null }
}
