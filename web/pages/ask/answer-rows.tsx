import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { DataGrid } from '../../parts/grid/data-grid.tsx'
import { columnsOf, formatOf } from '../../parts/cells/cell-text.ts'
import type { Download, GridColumn } from '../../parts/cells/model.ts'
import { ChartFigure, useChart } from '../../parts/chart/chart-figure.tsx'
import { unknownIn, columnsIn } from '../deploy/try/answer.tsx'
import type { Outcome } from '../deploy/try/calls.ts'
import { chartOf } from './answer-file.ts'
import { answerSentence } from './answer-sentence.ts'
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
  const [only] = columns
  const isTruncated = (outcome.body as { truncated?: boolean }).truncated === true
  if (rows.length === 0)
    return <Text component="output">{['No row matches.', ...unknownIn(outcome.body)].join(' ')}</Text>
  if (rows.length === 1 && columns.length === 1 && only !== undefined) return <Figure column={only} row={rows[0]} />
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

/** One value, as large as an answer may be. */
function Figure({ column, row }: { column: GridColumn; row: Row | undefined }) {
  return (
    <div>
      <Text c="dimmed" size="xs">
        {column.name.replaceAll('_', ' ')}
      </Text>
      <Text className={`numbers ${classes['figure'] ?? ''}`} aria-label="Answer">
        {formatOf(column, [row]).say(row?.[column.name])}
      </Text>
    </div>
  )
}
