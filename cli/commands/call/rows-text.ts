import type { Context } from '../../context/context.ts'
import { table } from '../../terminal/table.ts'
import { cellText, countText, timeText } from '../../terminal/texts.ts'

type Rows = {
  data: Array<Record<string, unknown>>
  row_count?: number | undefined
  truncated?: boolean | undefined
  execution_time_ms?: number | undefined
  version?: number
  as_of?: string | null | undefined
}

const shownRows = 200

/** Rows as a person reads them, and what is to be known of them. */
export function rowsText(answer: Rows, { style, width }: Pick<Context, 'style' | 'width'>): string {
  const { data } = answer
  const names = [...new Set(data.flatMap((row) => Object.keys(row)))]
  const columns = names.map((name) => {
    const isNumber = data.every((row) => row[name] === null || typeof row[name] === 'number')
    return { title: style.bold(name), align: isNumber ? ('right' as const) : ('left' as const) }
  })
  const rows = data.slice(0, shownRows).map((row) => names.map((name) => cellText(row[name])))
  const facts = [
    countText(answer.row_count ?? data.length, 'row'),
    ...(answer.execution_time_ms === undefined ? [] : [`${answer.execution_time_ms} ms`]),
    ...(answer.version === undefined ? [] : [`version ${answer.version}`]),
    ...(answer.as_of === undefined || answer.as_of === null ? [] : [`as of ${timeText(answer.as_of)}`]),
  ]
  const lines = data.length === 0 ? [] : [table(columns, rows, width)]
  if (data.length > shownRows) lines.push(style.dim(`… and ${data.length - shownRows} more: --format csv shows all`))
  if (answer.truncated === true) lines.push(style.warn('Rows beyond the limit were left out.'))
  return [...lines, style.dim(facts.join(', '))].join('\n')
}
