import { scalarFunctions } from '../inspect/functions.ts'
import { everyNode, functionName, type Node } from '../instance/syntax-tree.ts'

/** One table, filtered: nothing that looks at more than one row at a time, but for the order and number of rows. */
export function readsOneTable(root: Node): boolean {
  const from = root['from_table'] as Node | undefined
  const ctes = root['cte_map'] as { map: unknown[] } | undefined
  return (
    root['type'] === 'SELECT_NODE' &&
    ctes?.map.length === 0 &&
    from?.['type'] === 'BASE_TABLE' &&
    from['sample'] === null &&
    isEmpty(from['column_name_alias']) &&
    isEmpty(root['group_expressions']) &&
    ['having', 'qualify', 'sample'].every((part) => root[part] === null) &&
    root['aggregate_handling'] === 'STANDARD_HANDLING'
  )
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** True where no expression sees other rows, has effects or differs from one time to the next. */
export async function isRowByRow(root: Node): Promise<boolean> {
  const scalars = await scalarFunctions()
  return everyNode(root).every((node) => {
    if (['SUBQUERY', 'WINDOW', 'POSITIONAL_REFERENCE'].includes(String(node['class']))) return false
    return node['class'] !== 'FUNCTION' || scalars.has(functionName(node))
  })
}
