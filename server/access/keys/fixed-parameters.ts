import { Failure } from '../../failure.ts'
import type { KeyRecord } from './record.ts'

/**
 * The slots of a call with those that the key fixes. A caller who sends one of them is refused: overriding it silently
 * would answer another question than was asked. What the query has no slot for is left out.
 */
export function withFixedParameters(
  { fixedParameters }: Pick<KeyRecord, 'fixedParameters'>,
  given: Readonly<Record<string, unknown>>,
  slotNames: readonly string[],
): Record<string, unknown> {
  const clashes = Object.keys(given).filter((name) => Object.hasOwn(fixedParameters, name))
  if (clashes.length > 0) {
    throw new Failure('invalid_query', {
      reason: 'invalid_slots',
      message: `The API key fixes ${clashes.join(', ')}: leave it out of the call.`,
      details: clashes.map((field) => ({ field, message: 'is fixed by the API key' })),
    })
  }
  const fixed = slotNames.filter((name) => Object.hasOwn(fixedParameters, name))
  return { ...given, ...Object.fromEntries(fixed.map((name) => [name, fixedParameters[name]])) }
}
