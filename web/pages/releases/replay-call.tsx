import { Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { DataGrid } from '../../parts/grid/data-grid.tsx'
import { columnsOf as typedColumns } from '../../parts/cells/cell-text.ts'
import { wholeView, type GridColumn, type GridRow, type View } from '../../parts/cells/model.ts'
import { Loaded } from '../../parts/text/loaded.tsx'
import { saySize, sayNumber, sayValue } from '../../text/words.ts'
import classes from './replay.module.css'
import { columnsOf, sayColumns, sayComparison, saySide } from './replay-words.ts'
import { useReplayCall } from './replays.ts'
import { sayMs } from '../deploy/shared/words.ts'
import type { ReplayCall } from '../deploy/shared/wire.ts'

type Props = { projectId: string; replayId: string; callId: string }

/** One call that was not equal: what it was called with, and what both versions made of it. */
export function OpenedCall({ projectId, ...of }: Props) {
  const found = useReplayCall(projectId, of)
  return <Loaded query={found}>{(call) => <Opened call={call} />}</Loaded>
}

function Opened({ call }: { call: ReplayCall }) {
  const columns = sayColumns(call)
  const [view, onView] = useState(wholeView)
  const shared = { view, onView }
  return (
    <Stack gap="sm">
      <Parameters call={call} />
      <div>
        <Text fw={500}>{sayComparison(call)}</Text>
        {columns.map((says) => (
          <Text key={says} size="sm" c="dimmed">
            {says}
          </Text>
        ))}
        {call.times > 1 && (
          <Text size="xs" c="dimmed">
            It stands for {sayNumber(call.times)} calls with the same values.
          </Text>
        )}
      </div>
      <div className={classes['sides']}>
        <Side call={call} side="before" shared={shared} />
        <Side call={call} side="after" shared={shared} />
      </div>
    </Stack>
  )
}

function Parameters({ call: { parameters, redacted } }: { call: ReplayCall }) {
  const values = Object.entries(parameters)
  if (values.length === 0 && redacted.length === 0) return <Text c="dimmed">Called without values.</Text>
  return (
    <dl className={classes['values']} aria-label="Values of the call">
      {values.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null ? <i>null</i> : sayValue(value)}</dd>
        </div>
      ))}
      {redacted.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <i>not recorded</i>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Side({ call, side, shared }: Omit<SampleProps, 'title'>) {
  const ran = call[side]
  const version = side === 'before' ? call.before_version : call.after_version
  const title = `${side === 'before' ? 'Now' : 'Then'}: ${saySide(version)}`
  return (
    <section className={classes['side']} aria-label={title}>
      <div className={classes['title']}>{title}</div>
      {ran !== null && 'error' in ran ? (
        <div className={classes['failure']}>
          <Text fw={500}>{ran.error.reason ?? ran.error.code}</Text>
          <Text size="sm">{ran.error.message}</Text>
        </div>
      ) : (
        <>
          <Text size="xs" c="dimmed" className="numbers" px="sm" py={6}>
            {ran === null
              ? 'Not run'
              : `${sayNumber(ran.row_count)} ${ran.row_count === 1 ? 'row' : 'rows'}${ran.truncated ? ', cut short' : ''} · ${sayMs(ran.elapsed_ms)} · ${saySize(ran.bytes)}`}
          </Text>
          <SampleRows call={call} side={side} title={title} shared={shared} />
        </>
      )}
    </section>
  )
}

type SampleProps = { call: ReplayCall; side: 'before' | 'after'; title: string; shared: SharedView }
type SharedView = { view: View; onView: (view: View) => void }

/** The rows that differ, in one order on both sides, so that those that belong together stand side by side. */
function SampleRows({ call, side, title, shared }: SampleProps) {
  const sample = call.comparison?.sample ?? noSample
  const keys = useMemo(() => sample.map(({ before, after }) => ({ ...after, ...before })), [sample])
  const rows = useMemo(() => sample.map((each) => each[side]), [sample, side])
  const columns = useMemo(() => orderedColumns(call, keys), [call, keys])
  if (sample.length === 0) return null
  return (
    <DataGrid
      label={`Rows that differ, ${title}`}
      columns={columns}
      rows={rows}
      keys={keys}
      shared={shared}
      download={{ name: `rows-${side}` }}
      lookOf={(number) => {
        const each = sample[number]
        if (each?.[side] === undefined) return { says: side === 'before' ? 'was not there' : 'is gone' }
        return { kind: each.kind, marked: each.columns }
      }}
    />
  )
}

const noSample: NonNullable<ReplayCall['comparison']>['sample'] = []

/** First what tells rows apart, then what changed, then the rest. */
function orderedColumns(call: ReplayCall, rows: GridRow[]): GridColumn[] {
  const names = columnsOf(call)
  const known = typedColumns([Object.fromEntries(names.map((name) => [name, null])), ...rows])
  return names.flatMap((name) => known.find((column) => column.name === name) ?? [])
}
