import { DuckDBInstance } from '@duckdb/node-api'

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

/** Built-in functions that are refused, by the reason to refuse them. */
const refused: RegExp[] = [
  // Look into or steer the engine: names, settings, variables, logs, privileges, catalogs, transactions.
  /^(current_(connection_id|database|query|query_id|role|schema|schemas|setting|transaction_id|user|catalog)|session_user|user)$/,
  /^(getvariable|in_search_path|version|write_log|parse_duckdb_log_message|stats|vector_type|get_block_size|txid_current)$/,
  /^(pg_|has_.*_privilege$|inet_|(col|obj|shobj)_description$|format_(pg_)?type$|map_to_pg_oid$|nextval$|currval$)/,
  // Run or take apart other SQL.
  /^(query|query_table|json_(de)?serialize_(sql|plan)|json_serialize_plan|json_execute_serialized_sql)$/,
  // Wait.
  /^(sleep_ms|pg_sleep)$/,
  // Recurse without a limit: a deeply nested value ends the process.
  /^(json_structure|json_group_structure|json_transform(_strict)?|from_json(_strict)?|json_merge_patch)$/,
  // Internals that trust their arguments: states of aggregates, raw encodings, types as values.
  /^(__internal_|finalize$|combine$|remap_struct$|variant_bytes_to_variant$|variant_to_parquet_variant$|make_type$|replace_type$|cast_to_type$|icu_collate_|create_sort_key$|timetz_byte_comparable$)/,
  // Reach files, in this version or the next.
  /^(read_|write_|parquet_|copy|glob|sniff_|getenv|http|load|install|attach|enable_|disable_|checkpoint|duckdb_|pragma_|arrow_|sql_auto)/,
]

let allowed: Promise<Set<string>> | undefined
let scalars: Promise<Set<string>> | undefined

/** Scalar functions, aggregates and macros an author may use: what this DuckDB has, without the refused ones. */
export function allowedFunctions(): Promise<Set<string>> {
  allowed ??= readAllowedFunctions()
  return allowed
}

/** Functions that give the same for the same arguments and look at one row. Arithmetic is among them. */
export function scalarFunctions(): Promise<Set<string>> {
  scalars ??= functionNames(
    "GROUP BY function_name HAVING bool_and(function_type = 'scalar' AND stability = 'CONSISTENT')",
  ).then((names) => new Set(names))
  return scalars
}

async function readAllowedFunctions(): Promise<Set<string>> {
  const names = await functionNames("WHERE function_type IN ('scalar', 'aggregate', 'macro')")
  return new Set([...names.filter((name) => !refused.some((pattern) => pattern.test(name))), 'unnest'])
}

async function functionNames(which: string): Promise<string[]> {
  const database = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await database.connect()
  const result = await connection.run(`SELECT DISTINCT function_name FROM duckdb_functions() ${which}`)
  const names = (await result.getRows()).map(([name]) => String(name))
  connection.closeSync()
  database.closeSync()
  return names
}
