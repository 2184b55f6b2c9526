import type { EnginePlan, PlanStep } from '../../engine/index.ts'
import type { TrinoClient } from '../client/client.ts'
import type { RunAs } from '../client/run-as.ts'

/** As Trino writes a plan: each step with those that feed it. */
type PlanNode = {
  name: string
  descriptor?: Record<string, string>
  details?: string[]
  estimates?: Array<{ outputRowCount?: number | string }>
  children?: PlanNode[]
}

const maxDetailChars = 500

/** Trino's plan of a statement, as it draws it and step by step. */
export async function planOf(client: TrinoClient, run: RunAs, executed: string): Promise<EnginePlan> {
  const explain = async (form: string): Promise<string> => {
    const rows = await client.rows({ sql: `EXPLAIN (TYPE ${form}) ${executed}`, ...run })
    return rows.map(([text]) => String(text)).join('\n')
  }
  const [drawn, written] = await Promise.all([explain('DISTRIBUTED'), explain('LOGICAL, FORMAT JSON')])
  return { plan: withoutSchema(drawn, run), steps: stepsOf(JSON.parse(written) as PlanNode, run) }
}

function stepsOf(
  { name, descriptor = {}, details = [], estimates = [], children = [] }: PlanNode,
  run: RunAs,
): PlanStep[] {
  const table = /^[^:]+:[^.]+\.([^$\s]+)/.exec(descriptor['table'] ?? '')?.[1] ?? null
  const rows = Number(estimates[0]?.outputRowCount)
  const described = Object.entries(descriptor).filter(([, value]) => value !== '')
  const listed = details.length === 0 ? [] : ([['details', details.join('\n')]] as const)
  const shown = [...described, ...listed].map(([key, value]) => [
    key,
    withoutSchema(value, run).slice(0, maxDetailChars),
  ])
  const step: PlanStep = {
    operator: name,
    table,
    details: Object.fromEntries(shown) as Record<string, string>,
    estimatedRows: Number.isFinite(rows) ? Math.round(rows) : null,
  }
  return [step, ...children.flatMap((child) => stepsOf(child, run))]
}

/** Where the tables of a project lie is no author's matter. */
function withoutSchema(text: string, { schema }: RunAs): string {
  return text.replaceAll(`${schema}.`, '')
}
