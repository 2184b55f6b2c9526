import type { SlotsSchema } from '../../../api/slots.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { CallLimits, Column, Catalogs, QueryEngine, SqlFacets } from '../../data/index.ts'
import { Failure, type FailureDetail } from '../../failure.ts'
import type { Database, Dialect, QueryExample } from '../../store/index.ts'
import { inferSlots, mistakesOf } from '../slots/slot-rules.ts'
import { slotTypeOf } from '../slot-types.ts'
import { checkSlots, compileSlots, sentence } from '../slots/slots.ts'

/** What SQL reads, needs and returns. */
export type Inspected = { tables: Record<string, string[]>; slots: SlotsSchema; columns: Column[]; facets: SqlFacets }

type InspectInput = { sql: string; slots?: SlotsSchema | undefined }

/** What an author is told before anything is saved. */
export async function inspectQuery(
  app: { store: Database; catalogs: Catalogs; engine: QueryEngine },
  caller: Caller,
  input: { projectId: string } & InspectInput,
): Promise<Inspected> {
  await requireRole(app, caller, input.projectId, 'editor')
  return examine(app, input.projectId, input)
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
  refuse(mistakesOf(schema, { tables: catalog.tables, used }))
  refuse(exampleMistakes(schema, examples))
  return { tables: found.columnsByTable, slots: schema, columns: found.columns, facets: found.facets }
}

function typesOf(slots: SlotsSchema | undefined) {
  return Object.entries(slots?.properties ?? {}).map(([name, slot]) => ({ name, type: slotTypeOf(slot) }))
}

/** An example may leave slots open, but what it gives must be good. */
function exampleMistakes(schema: SlotsSchema, examples: QueryExample[]): FailureDetail[] {
  const compiled = compileSlots({ ...schema, required: [] })
  return examples.flatMap(({ parameters }, index) => {
    const checked = checkSlots(compiled, parameters)
    if (!('details' in checked)) return []
    return checked.details.map(({ field, message }) => ({ field: `examples.${index}.parameters.${field}`, message }))
  })
}

function refuse(details: FailureDetail[]): void {
  if (details.length === 0) return
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `The query is not as expected: ${sentence(details)}.`,
    details,
  })
}
