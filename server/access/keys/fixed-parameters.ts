import { Failure } from '../../failure.ts'
import type { KeyRecord } from './record.ts'

/**
 * The slots of a call with those that the key fixes. A caller who sends one of them is refused: overriding it silently
 * would answer another question than was asked. What the query has no slot for is left out.
 */
export function withFixedParameters(
  { fixedParameters }: Pick<KeyRecord, 'fixedParameters'>,
  given: Readonly<Record<string, unknown>>,
  slotNames: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(fixedParameters)
  if (names.length === 0) return given
  const clashes = names.filter((name) => Object.hasOwn(given, name))
  if (clashes.length > 0) {
    throw new Failure('invalid_query', {
      reason: 'invalid_slots',
      message: `The API key fixes ${clashes.join(', ')}: leave it out of the call.`,
      details: clashes.map((field) => ({ field, message: 'is fixed by the API key' })),
    })
  }
  const fixed = names.filter((name) => slotNames.has(name))
  return { ...given, ...Object.fromEntries(fixed.map((name) => [name, fixedParameters[name]])) }
}
