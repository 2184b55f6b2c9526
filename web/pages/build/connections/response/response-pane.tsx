import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { useMemo } from 'react'
import { useComeIntoView } from '../../../../parts/text/come-into-view.ts'
import { DataGrid } from '../../../../parts/grid/data-grid.tsx'
import { RefusalNotice } from '../../../../parts/text/refusal.tsx'
import type { Tested } from '../../shared/wire.ts'
import { sayCount, sayNumber, saySize, sayTime } from '../../../../text/words.ts'
import { isDocument, isObject, readText, tableOf, valueAt } from './response.ts'
import { ResponseTree } from './response-tree.tsx'
import type { Draft } from '../fields/draft.ts'
import { ProblemNotice } from './problem.tsx'
import { Recognised, type useRecognised } from './recognised.tsx'
import classes from '../fields/connection.module.css'
import { SluiceGate } from '../../../../parts/text/water.tsx'
import { Waiting } from '../../../../parts/text/waiting.tsx'

type Props = {
  tested: Tested | undefined
  error: Error | null
  busy: boolean
  stopped: boolean
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  isNew: boolean
  recognised: ReturnType<typeof useRecognised>
  onTest: () => void
  /** Chooses a request of the document that came. */
  onDocument: () => void
}

/** A test that brings more is looked at in part. */
const rowsShown = 10_000

/** The result of the test: the facts, the response, and the table that fetching the data would store. */
export function ResponsePane(props: Props) {
  const { tested, error, busy, stopped, draft, onChange, onTest } = props
  const facts = useComeIntoView<HTMLDivElement>(tested)
  const data = useMemo(() => readText(tested?.data), [tested?.data])
  if (error !== null) return <RefusalNotice error={error} />
  if (tested === undefined) {
    return (
      <div className={classes.blank} aria-live="polite">
        {busy ? (
          <Waiting says="Calling" />
        ) : (
          <>
            <SluiceGate />
            <Text maw="20rem">
              {stopped && 'The test was cancelled. '}
              Test calls the address and shows here what comes back. Nothing is stored.
            </Text>
          </>
        )}
      </div>
    )
  }
  const isData = tested.problem === undefined && !isDocument(data)
  const isTree = Array.isArray(data) || isObject(data)
  return (
    <div aria-busy={busy}>
      <div ref={facts} className={classes.facts} aria-live="polite">
        {tested.status > 0 && (
          <span className={classes.status} data-bad={!tested.success || undefined}>
            {tested.status}
          </span>
        )}
        <span>{sayTime(tested.response_time)}</span>
        <span>{saySize(tested.size)}</span>
        {tested.content_type !== '' && <span>{tested.content_type}</span>}
        {tested.truncated === true && <span>shown in part</span>}
      </div>
      {tested.problem !== undefined && <ProblemNotice problem={tested.problem} onTest={onTest} />}
      {tested.error !== undefined && (
        <Alert mt="sm" variant="default" role="alert" icon={<CircleAlert size={18} aria-hidden />}>
          {tested.error.message}
        </Alert>
      )}
      {isDocument(data) && (
        <output className={classes.recognised}>
          <Text className={classes.found ?? ''}>
            This is the document of an API. Choose the request that gives the rows.
          </Text>
          <Button size="xs" onClick={props.onDocument}>
            Choose a request
          </Button>
        </output>
      )}
      {isData && <Recognised tested={tested} draft={draft} isNew={props.isNew} recognised={props.recognised} />}
      {isTree ? (
        <>
          <div className={classes.tree}>
            <ResponseTree data={data} picked={draft.extractor} onPick={(path) => onChange({ extractor: path })} />
          </div>
          {isData && <AsTable data={data} extractor={draft.extractor} found={tested.detected?.rows ?? null} />}
        </>
      ) : (
        typeof data === 'string' && data !== '' && <pre className={classes.text}>{data.slice(0, 20_000)}</pre>
      )}
    </div>
  )
}

type TableProps = { data: unknown; extractor: string; found: { path: string; count: number } | null }

/** The rows as they would be stored; of a large answer the service sends the first. */
function AsTable({ data, extractor, found }: TableProps) {
  const value = useMemo(() => valueAt(data, extractor), [data, extractor])
  const table = useMemo(() => tableOf(value, rowsShown), [value])
  if (value === undefined) {
    return (
      <Text c="var(--sluice-danger)">
        There is nothing at <Code>{extractor}</Code> in this response. Click a key above to choose another.
      </Text>
    )
  }
  const { rows, columns, count } = table
  const whole = found?.path === extractor ? Math.max(found.count, count) : count
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        As a table: {sayCount(whole, 'row')}, {sayCount(columns.length, 'column')}
        {whole > rows.length && `, the first ${sayNumber(rows.length)} shown`}
      </Text>
      <DataGrid label="What would be stored" columns={columns} rows={rows} download={{ name: 'response' }} />
    </Stack>
  )
}
