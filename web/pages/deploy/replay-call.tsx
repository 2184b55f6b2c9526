import { Stack, Text } from '@mantine/core'
import { Loaded } from '../../parts/loaded.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { saySize, sayNumber, sayValue } from '../../words.ts'
import classes from './replay.module.css'
import { columnsOf, sayColumns, sayComparison, saySide } from './replay-words.ts'
import { useReplayCall } from './replays.ts'
import { sayMs } from './words.ts'
import type { ReplayCall } from './wire.ts'

type Props = { projectId: string; replayId: string; callId: string }

/** One call that was not equal: what it was called with, and what both versions made of it. */
export function OpenedCall({ projectId, ...of }: Props) {
  const found = useReplayCall(projectId, of)
  return <Loaded query={found}>{(call) => <Opened call={call} />}</Loaded>
}

function Opened({ call }: { call: ReplayCall }) {
  const columns = sayColumns(call)
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
        <Side call={call} side="before" />
        <Side call={call} side="after" />
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

function Side({ call, side }: { call: ReplayCall; side: 'before' | 'after' }) {
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
          <SampleRows call={call} side={side} title={title} />
        </>
      )}
    </section>
  )
}

/** The rows that differ, in the same order on both sides, so that those that belong together stand side by side. */
function SampleRows({ call, side, title }: { call: ReplayCall; side: 'before' | 'after'; title: string }) {
  const sample = call.comparison?.sample ?? []
  if (sample.length === 0) return null
  const columns = columnsOf(call)
  return (
    <Scroll look="tall" label={`Rows that differ, ${title}`}>
      <table className={classes['rows']}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" data-end={isFigure(sample, name) || undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((each, at) => {
            const row = each[side]
            return (
              // Rows of a comparison have no name of their own, and are never changed in place.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={at} data-kind={row === undefined ? undefined : each.kind}>
                {row === undefined ? (
                  <td colSpan={columns.length} className={classes['missing']}>
                    {side === 'before' ? 'was not there' : 'is gone'}
                  </td>
                ) : (
                  columns.map((name) => (
                    <Cell
                      key={name}
                      value={row[name]}
                      has={Object.hasOwn(row, name)}
                      marked={each.columns?.includes(name) === true}
                    />
                  ))
                )}
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}

function isFigure(sample: NonNullable<ReplayCall['comparison']>['sample'], column: string): boolean {
  return sample.some(({ before, after }) => typeof (before ?? after)?.[column] === 'number')
}

function Cell({ value, has, marked }: { value: unknown; has: boolean; marked: boolean }) {
  const text = sayValue(value)
  const shown = !has ? '' : value === null ? <i>null</i> : text
  return (
    <td data-end={typeof value === 'number' || undefined} data-marked={marked || undefined} title={text}>
      {marked ? <mark>{shown}</mark> : shown}
    </td>
  )
}
