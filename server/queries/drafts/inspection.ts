import { fixedLimits } from '../../../api/limits.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { CallLimits, ResultColumn, QueryEngine, SqlFacets } from '../../engine/index.ts'
import type { Catalogs } from '../../data/index.ts'
import { Failure, invalidField, listProblems, maxProblems, type FailureDetail } from '../../failure.ts'
import type { Database, Dialect, QueryExample } from '../../store/index.ts'
import { inferSlots, mistakesOf } from '../slots/slot-rules.ts'
import { slotTypeOf } from '../slots/slot-values.ts'
import { boundsOf, type QueryBounds } from '../slots/read-bounds.ts'
import { checkSlots, compileSlots } from '../slots/slots.ts'

/** The tables, slots and columns of some SQL. */
export type Inspected = {
  tables: Record<string, string[]>
  slots: SlotsSchema
  columns: ResultColumn[]
  facets: SqlFacets
}

type InspectInput = { sql: string; slots?: SlotsSchema | undefined }

/** The report for an author before anything is saved. */
export async function inspectQuery(
  app: { store: Database; catalogs: Catalogs; engine: QueryEngine },
  caller: Caller,
  input: { projectId: string } & InspectInput,
): Promise<Inspected & QueryBounds> {
  await requireRole(app, caller, input.projectId, 'editor')
  const found = await examine(app, input.projectId, input)
  return { ...found, ...(await boundsOf(app, input.projectId, { sql: input.sql, slots: found.slots })) }
}

/**
 * Proves that the SQL is one read-only SELECT over the project's tables and that its slots are declared as it uses
 * them; without declared slots it suggests some. Runs at save, preview and deploy.
 */
export async function examine(
  app: { catalogs: Catalogs; engine: QueryEngine },
  projectId: string,
  {
    sql,
    slots,
    dialect,
    examples = [],
    limits,
  }: InspectInput & {
    /** The project's, where the SQL is no one's yet. */
    dialect?: Dialect
    examples?: QueryExample[]
    limits?: CallLimits
  },
): Promise<Inspected> {
  const catalog = await app.catalogs.get(projectId)
  const found = await app.engine.inspect(
    projectId,
    catalog,
    { dialect: dialect ?? catalog.engine, sql, slots: typesOf(slots) },
    limits,
  )
  const schema = slots ?? inferSlots(sql, found.slots)
  const used = new Set(found.slots.map((slot) => slot.name))
  refuse({ details: mistakesOf(schema, { tables: catalog.tables, used }), more: 0 })
  refuse(exampleMistakes(schema, examples))
  return { tables: found.columnsByTable, slots: schema, columns: found.columns, facets: found.facets }
}

function typesOf(slots: SlotsSchema | undefined) {
  return Object.entries(slots?.properties ?? {}).map(([name, slot]) => ({ name, type: slotTypeOf(slot) }))
}

/** An example may leave slots open, but what it gives must be good. */
function exampleMistakes(schema: SlotsSchema, examples: QueryExample[]): { details: FailureDetail[]; more: number } {
  const compiled = compileSlots({ ...schema, required: [] })
  const mistakes = { details: [] as FailureDetail[], more: 0 }
  for (const [index, { parameters }] of examples.entries()) {
    requireShort(parameters, `examples.${index}.parameters`)
    const checked = checkSlots(compiled, parameters, mistakes.details.length === 0 ? undefined : 0)
    if (!('details' in checked)) continue
    const shown = checked.details.slice(0, maxProblems - mistakes.details.length)
    for (const { field, message } of shown) {
      mistakes.details.push({ field: `examples.${index}.parameters.${field}`, message })
    }
    mistakes.more += checked.details.length - shown.length + checked.more
  }
  return mistakes
}

/** Values that an author gives as an example are read again with each of many: for a release, a page, a definition. */
export function requireShort(parameters: Record<string, unknown> | null, field: string): void {
  const most = fixedLimits.exampleParameterChars.value
  if (JSON.stringify(parameters).length > most) throw invalidField(field, `have more than ${most} characters as JSON`)
}

function refuse({ details, more }: { details: FailureDetail[]; more: number }): void {
  if (details.length === 0) return
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `The query is not as expected: ${listProblems(details, more)}.`,
    details,
    more,
  })
}
