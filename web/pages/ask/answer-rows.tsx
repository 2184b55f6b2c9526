import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { DataGrid } from '../../parts/grid/data-grid.tsx'
import { columnsOf, formatOf, kindOf } from '../../parts/cells/cell-text.ts'
import type { Download, GridColumn } from '../../parts/cells/model.ts'
import { ChartFigure, useChart } from '../../parts/chart/chart-figure.tsx'
import { unknownIn, columnsIn } from '../query/call/answer.tsx'
import type { Outcome } from '../query/call/calls.ts'
import { chartOf } from './answer-file.ts'
import { answerSentence, mostNamed } from './answer-sentence.ts'
import classes from './ask.module.css'

type Row = Record<string, unknown>
type Props = {
  outcome: Outcome
  rows: Row[]
  /** Whose measure is drawn. */
  question: string | undefined
  storageKey: string | undefined
  download: Download | undefined
}

/** An answer in a sentence, and as the figure, chart or table that says most. */
export function AnswerRows({ outcome, rows, question, storageKey, download }: Props) {
  const columns = useMemo(() => columnsIn(outcome.body) ?? columnsOf(rows), [outcome, rows])
  const [isTable, setTable] = useState(false)
  const { chart, layout } = useChart({ set: chartOf(outcome), columns, rows, question })
  const isTruncated = (outcome.body as { truncated?: boolean }).truncated === true
  if (rows.length === 0)
    return <Text component="output">{['No row matches.', ...unknownIn(outcome.body)].join(' ')}</Text>
  const numbers = columns.filter(({ type }) => kindOf(type) === 'number')
  const [number] = numbers
  if (rows.length === 1 && numbers.length === 1 && number !== undefined && columns.length <= mostNamed) {
    const beside = columns.length > 1 ? answerSentence({ rows, columns, isTruncated, chart: null }) : null
    return <Figure column={number} row={rows[0]} beside={beside} />
  }
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Text component="output" fw={500}>
          {answerSentence({ rows, columns, isTruncated, chart })}
        </Text>
        {layout !== null && (
          <SegmentedControl
            size="xs"
            aria-label="Show the answer as"
            value={isTable ? 'table' : 'chart'}
            onChange={(value) => setTable(value === 'table')}
            data={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
          />
        )}
      </Group>
      {chart !== null && layout !== null && !isTable ? (
        <ChartFigure chart={chart} layout={layout} />
      ) : (
        <DataGrid
          label="Rows of the answer"
          columns={columns}
          rows={rows}
          storageKey={storageKey}
          download={download ?? { name: 'answer' }}
        />
      )}
    </Stack>
  )
}

/** One number, as large as an answer may be; the words beside it say what it is of. */
function Figure({ column, row, beside }: { column: GridColumn; row: Row | undefined; beside: string | null }) {
  return (
    <div>
      <Text c="dimmed" size="xs">
        {column.name.replaceAll('_', ' ')}
      </Text>
      <Text className={`numbers ${classes['figure'] ?? ''}`} aria-label="Answer">
        {formatOf(column, [row]).say(row?.[column.name])}
      </Text>
      {beside !== null && <Text component="output">{beside}</Text>}
    </div>
  )
}
