import { DuckDBInstance } from '@duckdb/node-api'
import { allowedFunctionNames } from './allowed-functions.ts'
import { refusedFunctions } from './refused-functions.ts'
import { foldName } from '../instance/sql-text.ts'

/** Table functions that read nothing but their arguments. Everything else that can stand after FROM is refused. */
export const tableFunctions = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'json_each',
  'json_tree',
  'generate_subscripts',
])

/** Scalar functions, aggregates and macros an author may use. */
export const allowedFunctions: ReadonlySet<string> = new Set(allowedFunctionNames.map(foldName))

/** Why a function is refused: its reason, or that nobody has looked at it. */
export function functionRefusal(name: string): string {
  return refusedFunctions.find(({ pattern }) => pattern.test(name))?.reason ?? 'is not known to be harmless'
}

/** Refused to authors, but the engine itself puts them into a plan: to compare, to sort, to join rows by name. */
const addedByEngine = /^(icu_collate_\w+|create_sort_key|remap_struct|timetz_byte_comparable|make_type|cast_to_type)$/

/** May a function be in the plan that the engine made of what an author wrote? */
export function mayBeBound(name: string): boolean {
  return allowedFunctions.has(foldName(name)) || addedByEngine.test(name)
}

let scalars: Promise<Set<string>> | undefined

/** Functions that give the same for the same arguments and look at one row. Arithmetic is among them. */
export function scalarFunctions(): Promise<Set<string>> {
  scalars ??= readScalarFunctions()
  return scalars
}

async function readScalarFunctions(): Promise<Set<string>> {
  const database = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await database.connect()
  const result = await connection.run(
    `SELECT function_name FROM duckdb_functions()
     GROUP BY function_name HAVING bool_and(function_type = 'scalar' AND stability = 'CONSISTENT')`,
  )
  const names = (await result.getRows()).map(([name]) => String(name))
  connection.closeSync()
  database.closeSync()
  return new Set(names)
}
