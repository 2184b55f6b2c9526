import { mayBeBound, tableFunctions } from './functions.ts'
import { everyNode, type Node } from '../instance/syntax-tree.ts'
import type { Sighting } from './inspect.ts'
import { pastTable, prepare, type Instance, type OpenConnection } from '../instance/instances.ts'
import type { LocalCatalog } from '../socket/protocol.ts'
import { sqlFailure } from '../instance/sql-failure.ts'

/** The tables that the engine would read for a statement: its own plan, before anything in it is left out or made quicker. */
export type BoundReads = { sources: Set<SourceTables>; foreign: string | null }

/** The tables whose rows come from one file: those with the same content share it, and a plan names only the file. */
type SourceTables = readonly string[]

/** Beyond this a plan names more columns than a statement can be prepared with. */
const maxPlanChars = 64 * 1024 * 1024

const operators = new Set(
  `PROJECTION FILTER AGGREGATE_AND_GROUP_BY WINDOW UNNEST LIMIT ORDER_BY TOP_N SAMPLE DISTINCT PIVOT GET DELIM_GET
   EXPRESSION_GET DUMMY_SCAN EMPTY_RESULT CTE_REF JOIN DELIM_JOIN COMPARISON_JOIN ANY_JOIN CROSS_PRODUCT
   POSITIONAL_JOIN ASOF_JOIN DEPENDENT_JOIN UNION EXCEPT INTERSECT RECURSIVE_CTE MATERIALIZED_CTE`
    .split(/\s+/)
    .map((name) => `LOGICAL_${name}`),
)

/**
 * The second wall. The first looks at what the author wrote; this one at what the engine made of it, so that no
 * difference between the two can hide a table or a function. Null where the engine cannot say: then its own error, or
 * a refusal, follows. Nothing is run, and nothing folded.
 */
export async function boundReads(
  lease: OpenConnection,
  { catalog }: Instance,
  typedSql: string,
): Promise<BoundReads | null> {
  // A table function WITH ORDINALITY can be written down only once it is optimised.
  const plans = (await planned(lease, typedSql, false)) ?? (await planned(lease, typedSql, true))
  if (plans === null) return null
  const reads: BoundReads = { sources: new Set(), foreign: null }
  const tablesOf = tablesOfSource(catalog)
  for (const node of everyNode(plans)) note(node, tablesOf, reads)
  return reads
}

/** Refuses what reads anything but the tables that were found in the text. */
export function refuseForeign(sql: string, reads: BoundReads | null, sighting: Sighting): void {
  if (reads === null) throw sqlFailure(sql, 'The engine cannot tell what this statement reads; write it another way.')
  const unseen = [...reads.sources].find((tables) => !tables.some((table) => sighting.tables.has(table)))
  const stranger = reads.foreign ?? unseen?.[0]
  if (stranger !== undefined) throw sqlFailure(sql, `The statement would use ${stranger}, which is not for queries.`)
}

/** A plan with NaN or an infinity in it is no JSON. */
function readPlan(text: string): { error: boolean; plans?: unknown } | null {
  try {
    return JSON.parse(text) as { error: boolean; plans?: unknown }
  } catch {
    return null
  }
}

async function planned(lease: OpenConnection, sql: string, optimize: boolean): Promise<unknown> {
  const statement = await prepare(
    lease,
    `SELECT CASE WHEN strlen(plan) <= ${maxPlanChars} THEN plan END
     FROM (SELECT json_serialize_plan(CAST($sql AS VARCHAR), optimize := ${optimize})::VARCHAR AS plan)`,
  )
  statement.bindVarchar(1, sql)
  const text = (await statement.run()).getChunk(0).getColumnVector(0).getItem(0)
  if (typeof text !== 'string') return null
  const answer = readPlan(text)
  return answer === null || answer.error ? null : answer.plans
}

/** Where the rows of each table come from, as the engine names it in a plan. */
function tablesOfSource(catalog: LocalCatalog): (node: Node) => SourceTables | undefined {
  const sources = new Map<string, string[]>()
  const add = (source: string, table: string): void => {
    const known = sources.get(source)
    if (known === undefined) sources.set(source, [table])
    else known.push(table)
  }
  for (const [index, { name, parquetPath, parted }] of catalog.tables.entries()) {
    add(`native_${index}.main.data`, name)
    add(parquetPath, name)
    for (const [place, part] of (parted?.parts ?? []).entries()) {
      add(`native_${index}_${place}.main.data`, name)
      add(`memory.past.${pastTable(index, place)}`, name)
      if (part.parquetPath !== parquetPath) add(part.parquetPath, name)
    }
  }
  return (node) => {
    const data = (node['function_data'] ?? {}) as {
      catalog?: string
      schema?: string
      table?: string
      files?: string[]
    }
    if (node['name'] === 'seq_scan') return sources.get(`${data.catalog}.${data.schema}.${data.table}`)
    const [file = ''] = data.files ?? []
    return node['name'] === 'read_parquet' && data.files?.length === 1 ? sources.get(file) : undefined
  }
}

function note(node: Node, tablesOf: (node: Node) => SourceTables | undefined, reads: BoundReads): void {
  const type = typeof node['type'] === 'string' ? node['type'] : ''
  if (type.startsWith('LOGICAL_') && !operators.has(type)) reads.foreign ??= type
  if (type === 'LOGICAL_GET') {
    const name = String(node['name'])
    const tables = tablesOf(node)
    if (tables !== undefined) reads.sources.add(tables)
    else if (!tableFunctions.has(name)) reads.foreign ??= name
  }
  if (isCall(node) && !mayBeBound(String(node['name']))) reads.foreign ??= String(node['name'])
}

/** A window function of the engine's own (`row_number`) has no name in a plan. */
function isCall(node: Node): boolean {
  const kind = node['expression_class']
  return (
    typeof node['name'] === 'string' &&
    (kind === 'BOUND_FUNCTION' || kind === 'BOUND_AGGREGATE' || kind === 'BOUND_WINDOW')
  )
}
