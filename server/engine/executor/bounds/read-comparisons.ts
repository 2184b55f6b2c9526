import type { DuckDBConnection } from '@duckdb/node-api'
import { withFiles } from '../instance/file-database.ts'
import type { ExecutorSettings, SlotComparison } from '../socket/protocol.ts'
import { comparisonsOf } from './comparisons.ts'
import { nodeIn, nodesIn, type Node } from '../instance/syntax-tree.ts'

/**
 * How slots bound the rows of statements, one list for each. Their own tables are not needed, and Trino's dialect is
 * near enough to be parsed; a statement that is not leaves null.
 */
export function readComparisons(
  settings: ExecutorSettings,
  statements: string[],
): Promise<Array<SlotComparison[] | null>> {
  return withFiles(settings, [], async (connection) => {
    const read: Array<SlotComparison[] | null> = []
    for (const sql of statements) read.push(await comparisonsIn(connection, { sql, limits: settings.sqlLimits }))
    return read
  })
}

async function comparisonsIn(
  connection: DuckDBConnection,
  { sql, limits }: { sql: string; limits: ExecutorSettings['sqlLimits'] },
): Promise<SlotComparison[] | null> {
  if (sql.length > limits.chars) return null
  try {
    const result = await connection.run('SELECT json_serialize_sql(CAST($sql AS VARCHAR))', { sql })
    const parsed = JSON.parse(String(result && (await result.getRows())[0]?.[0])) as Node
    const statements = nodesIn(parsed['statements'])
    const root = nodeIn(statements[0]?.['node'])
    return statements.length === 1 && root !== null ? comparisonsOf(root, sql) : null
  } catch {
    // Nested beyond the stack, or nothing that the engine can write down: it is not read.
    return null
  }
}
