import { Code, Stack, Text } from '@mantine/core'
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import type { ReactNode } from 'react'
import { PlainTable } from '../../../parts/table/list.tsx'
import { sayCount, sayValue } from '../../../text/words.ts'
import classes from './row-tests.module.css'
import type { RowTest, TestResult } from './use-row-tests.ts'

type Rows = Array<Record<string, unknown>>
type Props = { test: RowTest; result: TestResult | null; end: ReactNode }

/** Most rows of a table that are shown of a test. */
const mostRows = 20

/** One test, which opens to its rows; where it did not pass, with those that differ. */
export function RowTestLine({ test, result, end }: Props) {
  const { name, description, given } = test
  return (
    <details className={classes.test}>
      <summary>
        <Mark result={result} />
        <span className={classes.name}>{name}</span>
        {result?.passed === false && (
          <Text size="sm" c="var(--sluice-danger)" component="span">
            {result.message}
          </Text>
        )}
      </summary>
      <Stack gap="xs" mt="xs">
        {description !== '' && <Text size="sm">{description}</Text>}
        <Asked test={test} />
        {Object.entries(given).map(([table, rows]) => (
          <Given key={table} table={table} rows={rows} />
        ))}
        {test.error !== null && <Text size="sm">It must be refused with {test.error}.</Text>}
        {test.expect !== null && <RowsOf label={`Expected of ${name}`} title="Expected" rows={test.expect} />}
        {result?.passed === false && (
          <>
            <RowsOf label={`Missing of ${name}`} title="Did not come" rows={result.missing} />
            <RowsOf label={`Unexpected of ${name}`} title="Came instead" rows={result.unexpected} />
          </>
        )}
        {end}
      </Stack>
    </details>
  )
}

function Mark({ result }: { result: TestResult | null }) {
  if (result === null) return <CircleDashed size={16} aria-label="Not run" color="var(--mantine-color-dimmed)" />
  if (result.passed) return <CircleCheck size={16} aria-label="Passed" color="var(--sluice-good-mark)" />
  return <CircleX size={16} aria-label="Failed" color="var(--sluice-danger)" />
}

function Asked({ test: { question, asked_on: on, parameters } }: { test: RowTest }) {
  const values = Object.entries(parameters)
  if (question === undefined && values.length === 0) return null
  return (
    <Text size="sm">
      {question !== undefined && `“${question}”${on === undefined ? '' : `, asked on ${on}`} `}
      {values.map(([slot, value]) => (
        <Code key={slot} mr={4}>
          {slot}: {sayValue(value)}
        </Code>
      ))}
    </Text>
  )
}

function Given({ table, rows }: { table: string; rows: Rows | string }) {
  if (typeof rows !== 'string') return <RowsOf label={`Given ${table}`} title={`Given ${table}`} rows={rows} />
  return (
    <div>
      <Text size="xs" c="dimmed">
        Given {table}, as CSV
      </Text>
      <Code block className={classes.csv ?? ''}>
        {rows.slice(0, 2_000)}
      </Code>
    </div>
  )
}

function RowsOf({ label, title, rows }: { label: string; title: string; rows: Rows }) {
  if (rows.length === 0) return title.startsWith('Given') || title === 'Expected' ? <None title={title} /> : null
  const columns = [...new Set(rows.slice(0, mostRows).flatMap((row) => Object.keys(row)))]
  const more = rows.length - mostRows
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}: {sayCount(rows.length, 'row')}
        {more > 0 && `, of which ${mostRows} are shown`}
      </Text>
      <PlainTable
        label={label}
        head={columns}
        rows={rows.slice(0, mostRows).map((row) => columns.map((column) => cellOf(row, column)))}
      />
    </div>
  )
}

function None({ title }: { title: string }) {
  return (
    <Text size="xs" c="dimmed">
      {title}: no rows
    </Text>
  )
}

function cellOf(row: Record<string, unknown>, column: string): string {
  if (!(column in row)) return ''
  return row[column] === null ? 'null' : sayValue(row[column])
}
