import { Badge, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Chart } from '../../../../api/queries.ts'
import { DataGrid } from '../../../parts/grid/data-grid.tsx'
import { columnsOf } from '../../../parts/cells/cell-text.ts'
import type { Download, GridColumn } from '../../../parts/cells/model.ts'
import { ResultChart } from '../../../parts/chart/result-chart.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { sayCount } from '../../../text/words.ts'
import { refusalOf, rowsOf, type Outcome } from './calls.ts'
import { Scroll } from '../../../parts/table/scroll.tsx'

type Form = 'table' | 'chart' | 'json' | 'headers'

const forms: Form[] = ['table', 'chart', 'json', 'headers']

/** A long answer as text would freeze the page. */
const maxTextLength = 200_000

type Props = {
  outcome: Outcome
  /** Under which its columns stay as they were arranged. */
  storageKey?: string | undefined
  download?: Download | undefined
  /** As the author of the query draws it. */
  chart?: Chart | null
}

/** The answer: as rows, as sent, and with its headers. */
export function Answer({ outcome, storageKey, download, chart = null }: Props) {
  const rows = rowsOf(outcome.body)
  const refusal = refusalOf(outcome.body)
  const [chosen, setForm] = useState<Form | null>(null)
  const wanted = chosen ?? (chart === null ? 'table' : 'chart')
  const isOfRows = wanted === 'table' || wanted === 'chart'
  const form = isOfRows && rows === null ? 'json' : wanted === 'chart' && rows?.length === 0 ? 'table' : wanted
  const good = outcome.status < 400
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Group gap="xs" className="numbers" aria-live="polite">
          <Badge
            variant="light"
            tt="none"
            radius="sm"
            size="lg"
            color={good ? 'green' : 'red'}
            c="var(--mantine-color-text)"
          >
            {`${outcome.status} ${good ? 'OK' : (refusal?.reason ?? refusal?.error ?? '')}`}
          </Badge>
          <Facts outcome={outcome} rows={rows?.length ?? null} />
        </Group>
        <SegmentedControl
          size="xs"
          aria-label="Show the answer as"
          value={form}
          onChange={(value) => setForm(forms.find((each) => each === value) ?? 'table')}
          data={[
            ...(rows === null ? [] : [{ value: 'table', label: 'Table' }]),
            ...(rows === null || rows.length === 0 ? [] : [{ value: 'chart', label: 'Chart' }]),
            { value: 'json', label: 'JSON' },
            { value: 'headers', label: 'Headers' },
          ]}
        />
      </Group>
      {refusal !== null && <Text>{refusal.message}</Text>}
      {(form === 'table' || form === 'chart') && rows !== null && (
        <Rows
          outcome={outcome}
          rows={rows}
          storageKey={storageKey}
          download={download}
          chart={form === 'chart' ? { set: chart } : null}
        />
      )}
      {form === 'json' && (
        <Scroll look="code" label="Answer as JSON">
          {textOf(outcome.body)}
        </Scroll>
      )}
      {form === 'headers' && (
        <Scroll look="code" label="Headers of the answer">
          {outcome.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </Scroll>
      )}
    </Stack>
  )
}

type RowsProps = {
  outcome: Outcome
  rows: Array<Record<string, unknown>>
  storageKey: string | undefined
  download: Download | undefined
  /** Null where the table is wanted. */
  chart: { set: Chart | null } | null
}

function Rows({ outcome, rows, storageKey, download, chart }: RowsProps) {
  const [changed, setChanged] = useState<{ of: Outcome; chart: Chart | null } | null>(null)
  const columns = useMemo(() => columnsIn(outcome.body) ?? columnsOf(rows), [outcome, rows])
  if (rows.length === 0) {
    return <Text c="dimmed">{['No rows fit what was asked.', ...unknownIn(outcome.body)].join(' ')}</Text>
  }
  if (chart !== null) {
    return (
      <ResultChart
        columns={columns}
        rows={rows}
        chart={changed?.of === outcome ? changed.chart : chart.set}
        onChange={(next) => setChanged({ of: outcome, chart: next })}
        kept={changed?.of === outcome ? 'For this look only.' : 'As its author set it.'}
      />
    )
  }
  return (
    <DataGrid
      label="Rows of the answer"
      columns={columns}
      rows={rows}
      storageKey={storageKey}
      download={download ?? { name: 'answer' }}
    />
  )
}

/** Values of the call that no row has. */
export function unknownIn(body: unknown): string[] {
  const { warnings = [] } = (typeof body === 'object' && body !== null ? body : {}) as {
    warnings?: Array<{ slot: string; value: string; nearest: string[] }>
  }
  return warnings.map(({ slot, value, nearest }) => {
    const instead = nearest.length === 0 ? '' : ` Nearest: ${nearest.join(', ')}.`
    return `No row has “${value}” as ${slot}.${instead}`
  })
}

/** A preview names the types of its columns; an answer as callers get it does not. */
export function columnsIn(body: unknown): GridColumn[] | null {
  return typeof body === 'object' && body !== null && 'columns' in body && Array.isArray(body.columns)
    ? (body.columns as GridColumn[])
    : null
}

function Facts({ outcome: { body, elapsedMs }, rows }: { outcome: Outcome; rows: number | null }) {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const { execution_time_ms: runMs, version, as_of: asOf, truncated } = fields
  return (
    <Text size="xs" c="dimmed">
      {[
        truncated === true && rows !== null ? `the first ${sayCount(rows, 'row')}` : '',
        typeof runMs === 'number' ? `${runMs} ms to run` : '',
        `${elapsedMs} ms in all`,
        typeof version === 'number' ? `version ${version}` : '',
      ]
        .filter((each) => each !== '')
        .join(' · ')}
      {typeof asOf === 'string' && (
        <>
          {' · data from '}
          <Ago at={asOf} />
        </>
      )}
    </Text>
  )
}

function textOf(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}\n… cut off here, the table has it all` : text
}
