import type { SlotsSchema } from '../../../api/slots.ts'
import type { Catalogs } from '../../data/index.ts'

type ListedSlot = { name: string; column: string }

const listed = new WeakMap<SlotsSchema, ListedSlot[]>()

/** The slots that take their values from columns. Each call asks, so they are found once. */
export function listedSlots(slots: SlotsSchema): ListedSlot[] {
  const known = listed.get(slots)
  if (known !== undefined) return known
  const found = Object.entries(slots.properties).flatMap(([name, slot]) => {
    const column = slot['x-values-from'] ?? (slot.type === 'array' ? slot.items['x-values-from'] : undefined)
    return column === undefined ? [] : [{ name, column }]
  })
  listed.set(slots, found)
  return found
}

/** More values than so many are not listed: people and models would not read them. */
const maxListed = 50

type Described = {
  listed: readonly ListedSlot[]
  input: { properties: Record<string, Record<string, unknown>> }
}

/** The same contracts, with the values that each slot of a column can find rows by. */
export async function withListedValues<Contract extends Described>(
  { catalogs }: { catalogs: Catalogs },
  projectId: string,
  contracts: Contract[],
): Promise<Contract[]> {
  const columns = new Set(contracts.flatMap(({ listed: slots }) => slots.map(({ column }) => column)))
  if (columns.size === 0) return contracts
  const values = await catalogs.valuesOf(projectId, columns)
  return contracts.map((contract) => {
    const listed = contract.listed.flatMap(({ name, column }) => {
      const schema = contract.input.properties[name]
      const known = values[column] ?? []
      if (schema === undefined || known.length === 0 || known.length > maxListed) return []
      return [[name, withValues(schema, known)] as const]
    })
    if (listed.length === 0) return contract
    const properties = { ...contract.input.properties, ...Object.fromEntries(listed) }
    return { ...contract, input: { ...contract.input, properties } }
  })
}

/**
 * Said in words, not as `enum`: a value that comes with the next data must not be refused by who reads this. The words
 * are read by models, and the values are of an API that may speak to them: what is no short line is left out, and what
 * could be taken for a sentence stands in quotes.
 */
function withValues(schema: Record<string, unknown>, values: string[]): Record<string, unknown> {
  const { description } = schema
  const shown = values.filter(isShortLine).toSorted()
  if (shown.length === 0) return schema
  const before = typeof description === 'string' ? `${description.replace(/[.\s]+$/u, '')}. ` : ''
  const listing = shown.length === values.length ? 'One of' : 'Among others'
  return { ...schema, description: `${before}${listing}: ${shown.map(asData).join(', ')}.` }
}

const maxValueChars = 80

/** Without line breaks, control characters and those that nobody sees. */
function isShortLine(value: string): boolean {
  return value.length <= maxValueChars && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(value)
}

function asData(value: string): string {
  return /^[\p{L}\p{M}\p{N}&'/_+-]+( [\p{L}\p{M}\p{N}&'/_+-]+){0,3}$/u.test(value) ? value : JSON.stringify(value)
}
