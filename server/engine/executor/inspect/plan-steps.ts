import type { LocalCatalog, PlanStep } from '../socket/protocol.ts'

/** A node of the plan, as DuckDB writes it. */
type Operator = { name: string; children: Operator[]; extra_info: Record<string, string | string[]> }

/** A step that only passes columns on is not shown. */
const silent = new Set(['PROJECTION', 'RESULT_COLLECTOR', 'EXPLAIN', 'DUMMY_SCAN'])

/** The steps of a plan in the order in which they happen, with the project's own names of tables. */
export function stepsOf(planJson: string, { tables }: Pick<LocalCatalog, 'tables'>): PlanStep[] {
  const steps: PlanStep[] = []
  const visit = ({ name, children, extra_info: info }: Operator): void => {
    for (const child of children) visit(child)
    const operator = name.trim()
    if (silent.has(operator)) return
    const { Table: from, Projections: columns, 'Estimated Cardinality': estimated, ...more } = info
    const { Type: _type, Function: reader, ...about } = more
    const isRead = from !== undefined || reader !== undefined
    const read = columns === undefined ? [] : [columns].flat()
    steps.push({
      operator,
      table: isRead ? tableOf([from ?? ''].flat().join(''), read, tables) : null,
      details: {
        ...Object.fromEntries(Object.entries(about).map(([key, value]) => [key, [value].flat().join(', ')])),
        // The projections of a scan are its columns; those of other operators are internals.
        ...(isRead && read.length > 0 && { Columns: read.join(', ') }),
      },
      estimatedRows: estimated === undefined ? null : Number([estimated].flat()[0]),
    })
  }
  for (const root of JSON.parse(planJson) as Operator[]) visit(root)
  return steps
}

/** A copy that is served has its number in the catalog; of a file only the columns tell whose it is. */
function tableOf(from: string, columns: string[], tables: LocalCatalog['tables']): string | null {
  const place = /^native_(\d+)\./.exec(from)?.[1]
  if (place !== undefined) return tables[Number(place)]?.name ?? null
  const fitting = tables.filter((table) => columns.every((column) => table.columns.some(({ name }) => name === column)))
  return fitting.length === 1 ? (fitting[0]?.name ?? null) : null
}
