import { Badge, Button, Chip, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useState, type Ref } from 'react'
import { Loaded } from '../../parts/text/loaded.tsx'
import { PlainTable } from '../../parts/table/list.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Ago, sayExactly } from '../../parts/text/time.tsx'
import { sayCount, sayNumber, sayValue } from '../../text/words.ts'
import classes from './replay.module.css'
import { OpenedCall } from './replay-call.tsx'
import { outcomes, outcomeWords, sayCost } from './replay-words.ts'
import { useReplay, useReplayCalls } from './replays.ts'
import type { Place } from '../deploy/shared/place.ts'
import type { Replay, ReplayCallEntry, ReplayOutcome } from '../deploy/shared/wire.ts'

type Props = { place: Place; replay: Replay; order: 2 | 3; ref: Ref<HTMLElement> }

/** The replay of a checked release, with the calls that differ to open. */
export function RecordedCalls({ place, replay, order, ref }: Props) {
  return (
    <section ref={ref}>
      <Title order={order} size="h3" mb={4}>
        Recorded calls
      </Title>
      <Text c="dimmed">
        {replay.summary}
        {replay.status === 'running' && ' The others are still being run.'}
        {replay.status === 'stopped' && ' It was stopped before the others were run.'}
      </Text>
      <ComparedCalls place={place} replay={replay} />
    </section>
  )
}

/** Calls that were run in the background of a canary or shadow. */
export function CallsBehind({ place, replayId }: { place: Place; replayId: string }) {
  const replay = useReplay(place.project.id, replayId)
  // It is made with the first call that is compared.
  return replay.data === undefined ? null : <ComparedCalls place={place} replay={replay.data} />
}

function ComparedCalls({ place, replay }: { place: Place; replay: Replay }) {
  if (replay.calls === 0) return null
  return (
    <Stack gap="sm" mt="xs">
      <Shares replay={replay} />
      <ByQuery replay={replay} />
      <Calls place={place} replay={replay} />
    </Stack>
  )
}

/** How much of all is equal, at a glance. The words above say the same. */
function Shares({ replay }: { replay: Replay }) {
  const parts = (['equal', ...outcomes] as const).filter((outcome) => replay[outcome] > 0)
  return (
    <div className={classes['shares']} aria-hidden>
      {parts.map((outcome) => (
        <span key={outcome} data-outcome={outcome} style={{ flexGrow: replay[outcome] }} />
      ))}
    </div>
  )
}

function ByQuery({ replay: { queries } }: { replay: Replay }) {
  const sorted = queries.toSorted(
    (left, right) => troubleOf(right) - troubleOf(left) || (left.name < right.name ? -1 : 1),
  )
  // Seldom, and then it explains why the others do not add up.
  const isReordered = queries.some(({ reordered }) => reordered > 0)
  const figures = ['Calls', 'Equal', ...(isReordered ? ['Other order'] : []), 'Differ', 'Fail', 'Time', 'Size']
  return (
    <PlainTable
      label="Recorded calls by query"
      head={['Query', ...figures]}
      figures={figures}
      whole="Query"
      rows={sorted.map((each) => {
        const cost = sayCost(each)
        const counts = [each.calls, each.equal, ...(isReordered ? [each.reordered] : []), each.different, each.failed]
        return [
          <NameAndColumns key="name" query={each} />,
          ...counts.map(sayNumber),
          cost?.time ?? '',
          cost?.size ?? '',
        ]
      })}
    />
  )
}

function NameAndColumns({ query: { name, columns } }: { query: Replay['queries'][number] }) {
  const names = Object.keys(columns)
  return (
    <>
      <span className={classes['name']}>{name}</span>
      {names.length > 0 && (
        <Text span size="xs" c="dimmed">
          {' '}
          in {names.join(', ')}
        </Text>
      )}
    </>
  )
}

function troubleOf({ different, failed }: Pick<Replay, 'different' | 'failed'>): number {
  return different + failed
}

function Calls({ place, replay }: { place: Place; replay: Replay }) {
  const found = outcomes.filter((outcome) => replay[outcome] > 0)
  const [chosen, setChosen] = useState<ReplayOutcome | null>(null)
  const [first] = found
  if (first === undefined) return null
  const outcome = found.find((each) => each === chosen) ?? first
  return (
    <div>
      {found.length > 1 && (
        <Chip.Group value={outcome} onChange={setChosen}>
          <Group gap={6} mb="xs" role="radiogroup" aria-label="Which calls">
            {found.map((each) => (
              <Chip key={each} value={each} size="xs" variant="outline">
                {outcomeWords[each]} {sayNumber(replay[each])}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      )}
      <CallList key={outcome} place={place} replay={replay} outcome={outcome} />
    </div>
  )
}

function CallList({ place, replay, outcome }: { place: Place; replay: Replay; outcome: ReplayOutcome }) {
  const calls = useReplayCalls(place.project.id, { id: replay.id, calls: replay.calls, outcome })
  const [opened, setOpened] = useState<string | null>(null)
  return (
    <Loaded query={calls}>
      {(list) =>
        list.length === 0 ? (
          <Text c="dimmed">Which calls they were is no longer kept.</Text>
        ) : (
          <>
            <Rows label={`Calls: ${outcomeWords[outcome]}`}>
              {list.map((entry) => (
                <CallRow
                  key={entry.id}
                  place={place}
                  replayId={replay.id}
                  entry={entry}
                  isOpen={opened === entry.id}
                  onToggle={() => setOpened(opened === entry.id ? null : entry.id)}
                />
              ))}
            </Rows>
            {calls.hasNextPage && (
              <Button
                variant="default"
                size="xs"
                mt="xs"
                loading={calls.isFetchingNextPage}
                onClick={() => void calls.fetchNextPage()}
              >
                Show more calls
              </Button>
            )}
            {!calls.hasNextPage && list.length < replay[outcome] && (
              <Text size="xs" c="dimmed" mt={4}>
                {sayNumber(list.length)} of {sayNumber(replay[outcome])} are kept to be opened.
              </Text>
            )}
          </>
        )
      }
    </Loaded>
  )
}

type RowProps = { place: Place; replayId: string; entry: ReplayCallEntry; isOpen: boolean; onToggle: () => void }

function CallRow({ place, replayId, entry, isOpen, onToggle }: RowProps) {
  const { query, outcome, before_version: before, after_version: after, called_at: at } = entry
  const isBad = outcome === 'failed' || outcome === 'different'
  return (
    <>
      <Row
        end={
          <>
            <Badge variant="light" color={isBad ? 'red' : 'gray'} tt="none" radius="sm" c="var(--mantine-color-text)">
              {outcomeWords[outcome]}
            </Badge>
            {place.editor && (
              <Button
                variant="default"
                size="xs"
                aria-expanded={isOpen}
                aria-label={`${isOpen ? 'Close' : 'Open'} the call of ${query}, ${sayExactly(at)}`}
                onClick={onToggle}
              >
                {isOpen ? 'Close' : 'Open'}
              </Button>
            )}
          </>
        }
      >
        <span className={classes['name']}>{query}</span>
        {entry.parameters !== null && !isOpen && <CallValues parameters={entry.parameters} />}
        <Text size="xs" c="dimmed">
          {sayRows(entry)}called <Ago at={at} />, version {before} beside{' '}
          {after === null ? 'the draft' : `version ${after}`}
        </Text>
      </Row>
      {isOpen && (
        <li className={classes['opened']}>
          <OpenedCall projectId={place.project.id} replayId={replayId} callId={entry.id} />
        </li>
      )}
    </>
  )
}

/** The values that tell calls of one query apart. */
function CallValues({ parameters }: { parameters: Record<string, unknown> }) {
  const values = Object.entries(parameters)
  if (values.length === 0) return null
  return (
    <Text size="sm" component="div" className={classes['given']}>
      {values.map(([name, value]) => (
        <Code key={name}>
          {name} = {value === null ? 'null' : sayValue(value)}
        </Code>
      ))}
    </Text>
  )
}

/** How many rows each version answers with, where that differs. */
function sayRows({ before_rows: before, after_rows: after }: ReplayCallEntry): string {
  if (before === null || after === null || before === after) return ''
  return `${sayCount(before, 'row')} → ${sayNumber(after)}, `
}
