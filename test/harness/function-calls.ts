import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { allowedFunctions } from '../../server/engine/executor/inspect/functions.ts'
import { foldName } from '../../server/engine/executor/instance/sql-text.ts'

/** A function as `duckdb_functions()` lists it; `parameterTypes` has one entry for each. */
type ListedFunction = { name: string; kind: string; parameterTypes: string[] }

/** Values that broke something somewhere, as SQL of each kind of type. `null` stands for every type. */
const texts = [
  "''",
  "'a'",
  "repeat('[', 200000) || repeat(']', 200000)",
  `repeat('{"a":', 100000) || '1' || repeat('}', 100000)`,
  "repeat('(', 50000)",
  "repeat('x', 5000000)",
  "repeat('a*', 20000)",
  "'%s%n%d%99999999999d'",
  "'{:>999999999}'",
  "'\u0000\u200b\ud83d\udc4d\u0301é'",
  "'NaN'",
  "'-9223372036854775808'",
  "'$.a[*]..b[-1]'",
  "'POINT(1 2)'",
  "'GEOMETRYCOLLECTION(' || repeat('GEOMETRYCOLLECTION(', 20000)",
]
const integers = ['0', '-1', '1', '9223372036854775807', '-9223372036854775808', '2147483648', '1000000000']
const doubles = ["'NaN'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE", '0.0', '-1e308', '1e-308', '0.5']
const times = ["'infinity'::TIMESTAMP", "'-infinity'::TIMESTAMP", "TIMESTAMP '0001-01-01'", "TIMESTAMP '290000-12-31'"]
const lists = ['[]', '[NULL]', '[[1], NULL]', 'range(1000000)', "['a', NULL, '']", "['NaN'::DOUBLE, 1.0]"]
const others = [
  'NULL',
  'true',
  "'\\x00\\xFF'::BLOB",
  "''::BLOB",
  "INTERVAL '100000000 years'",
  "DATE 'infinity'",
  "DATE '-5000-01-01'",
  "TIME '23:59:59.999999'",
  "{'a': NULL, 'b': [1]}",
  'MAP {NULL::INTEGER: 1}',
  "MAP {'a': 1}",
  'union_value(x := 1)',
  "'101'::BIT",
  "repeat('1', 1000000)::BIT",
  "repeat('9', 30000)::BIGNUM",
  "'99999999999999999999999999999999999999'::DECIMAL(38,0)",
  "'170141183460469231731687303715884105727'::HUGEINT",
  '[1.0, 2.0, 3.0]::FLOAT[3]',
  "(repeat('[', 100000) || repeat(']', 100000))::JSON",
  'lambda x: x',
  'lambda x, y: [x, y]',
]

function valuesFor(type: string): string[] {
  if (/LAMBDA/.test(type)) return ['lambda x: x', 'lambda x, y: x', 'lambda x: [x]']
  if (/\[|^T$|^K$|^V$/.test(type)) return lists
  if (/JSON|VARCHAR/.test(type)) return texts
  if (/INT|^BIT$|DECIMAL/.test(type)) return integers
  if (/DOUBLE|FLOAT/.test(type)) return doubles
  if (/TIME|DATE/.test(type)) return times
  return [...lists, ...others]
}

const everything = [...texts, ...integers, ...doubles, ...times, ...lists, ...others]

/** A call of one of `functions`: mostly with values of its types, sometimes with any, and with one too many or few. */
export function functionCalls(functions: ListedFunction[]): fc.Arbitrary<string> {
  return fc.constantFrom(...functions).chain((listed) => {
    const fitting = listed.parameterTypes.map((type) => {
      const fits = fc.constantFrom(...valuesFor(type))
      const any = fc.constantFrom(...everything)
      return fc.oneof(
        { weight: 6, arbitrary: fits },
        { weight: 2, arbitrary: fc.constant('NULL') },
        { weight: 2, arbitrary: any },
      )
    })
    const more = fc.oneof(
      { weight: 8, arbitrary: fc.constant([]) },
      fc.array(fc.constantFrom(...everything), { maxLength: 3 }),
    )
    return fc.tuple(fc.tuple(...fitting), more).map(([given, added]) => callOf(listed, [...given, ...added]))
  })
}

/** Operators are called by their quoted names; a window keeps what only works in one from being refused unheard. */
function callOf({ name, kind }: ListedFunction, values: string[]): string {
  const call = `"${name.replaceAll('"', '""')}"(${values.join(', ')})`
  return kind === 'aggregate' && values.length % 2 === 0 ? `SELECT ${call} OVER () AS x` : `SELECT ${call} AS x`
}

/** Casts are functions without a name. */
const types = 'JSON BIT BLOB BIGNUM UUID DATE TIMESTAMPTZ INTERVAL DECIMAL(38,10) HUGEINT VARCHAR[] INTEGER[][] TIME'
export const casts: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...everything.filter((value) => !value.startsWith('lambda'))),
    fc.constantFrom(...types.split(' ')),
  )
  .map(([value, type]) => `SELECT try_cast(${value} AS ${type}) AS x`)

/** The functions that authors may use, each with its signatures. */
export async function listFunctions(): Promise<ListedFunction[]> {
  const database = await DuckDBInstance.create(':memory:')
  const connection = await database.connect()
  const result = await connection.run(
    `SELECT DISTINCT function_name, function_type, to_json(parameter_types)::VARCHAR AS types FROM duckdb_functions()
     WHERE function_type IN ('scalar', 'aggregate', 'macro') ORDER BY ALL`,
  )
  const rows = await result.getRows()
  connection.closeSync()
  database.closeSync()
  return rows
    .map(([name, kind, types]) => ({
      name: String(name),
      kind: String(kind),
      parameterTypes: (JSON.parse(String(types)) as (string | null)[]).map((type) => type ?? 'ANY'),
    }))
    .filter(({ name }) => allowedFunctions.has(foldName(name)))
}
