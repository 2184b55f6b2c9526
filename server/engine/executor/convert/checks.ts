import { withFiles } from '../instance/file-database.ts'
import type { Cancellable } from '../instance/instances.ts'
import { partFiles, partedFiles } from '../instance/parted.ts'
import type { CheckCall, CheckResult, ExecutorSettings, RowCheck } from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

const maxExamples = 3
const maxExample = 100

/** The failures of each check over the rows of a file, with a few of the values. */
export function checkRows(settings: ExecutorSettings, call: Cancellable, input: CheckCall): Promise<CheckResult[]> {
  const { parquetPath, whole } = input
  const paths = whole === undefined ? [parquetPath] : [parquetPath, ...partFiles(whole)]
  return withFiles(settings, paths, async (connection) => {
    call.interrupt = () => connection.interrupt()
    const results: CheckResult[] = []
    for (const check of input.checks) {
      // A rule for every row holds for those that were there already.
      const isOfEach = check.type === 'not_null' || check.type === 'accepted_values'
      const rows =
        whole === undefined || isOfEach ? `read_parquet(${quoteText(parquetPath)})` : `(${partedFiles(whole)})`
      const result = await connection.run(sqlOf(check, rows))
      const [[failing, examples, newest] = []] = await result.getRows()
      results.push({
        failing: Number(failing ?? 0),
        examples: JSON.parse(String(examples ?? '[]')) as string[],
        newestMs: newest === null || newest === undefined ? null : Number(newest),
      })
    }
    return results
  })
}

/** One row: how many fail, some of them as JSON, and for `freshness` the newest time in milliseconds. */
function sqlOf(check: RowCheck, table: string): string {
  if (check.type === 'unique') {
    const key = check.columns.map(quoteName).join(', ')
    const text = `left(to_json(row(${key}))::VARCHAR, ${maxExample})`
    const present = check.columns.map((column) => `${quoteName(column)} IS NOT NULL`).join(' AND ')
    const doubles = `SELECT ${text} AS example, count(*) AS rows FROM ${table} WHERE ${present} GROUP BY ${key} HAVING count(*) > 1`
    return `SELECT coalesce(sum(rows), 0)::BIGINT, to_json(list_slice(list(example), 1, ${maxExamples})), NULL FROM (${doubles})`
  }
  const x = quoteName(check.column)
  if (check.type === 'not_null') return `SELECT count(*) FILTER (WHERE ${x} IS NULL), NULL, NULL FROM ${table}`
  if (check.type === 'freshness') {
    const time = `try_cast(${x}::VARCHAR AS TIMESTAMPTZ)`
    const isPast = `${time} <= to_timestamp(${check.untilMs} / 1000)`
    return `SELECT 0, NULL, epoch_ms(max(${time}) FILTER (WHERE ${isPast})) FROM ${table}`
  }
  const text = `${x}::VARCHAR`
  const values = check.values.map((value) => quoteText(String(value))).join(', ')
  const failing = `FILTER (WHERE ${x} IS NOT NULL AND ${text} NOT IN (${values}))`
  const examples = `to_json(list_slice(list_distinct(list(left(${text}, ${maxExample})) ${failing}), 1, ${maxExamples}))`
  return `SELECT count(*) ${failing}, ${examples}, NULL FROM ${table}`
}
