import { Anchor, Button, Code, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { MessageCircleQuestion, SquareTerminal } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { call } from '../../client/api.ts'
import { CopyMark } from '../../parts/text/copy.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { PlainTable } from '../../parts/table/list.tsx'
import { Ago, Moment } from '../../parts/text/time.tsx'
import { askPath, paths, tryPath } from '../../browser/paths.ts'
import { saySize, sayNumber, sayValue } from '../../text/words.ts'
import classes from '../deploy/shared/deploy.module.css'
import { Outcome } from './outcome.tsx'
import type { Place } from '../deploy/shared/place.ts'
import type { RequestDetail } from '../deploy/shared/usage-wire.ts'
import { sayMs, sayShare } from '../deploy/shared/words.ts'

type Props = {
  place: Place
  requestId: string | null
  onClose: () => void
  onFilter: (name: string, value: string) => void
}

/** Everything that is known of one call. */
export function RequestDrawer({ place, requestId, onClose, onFilter }: Props) {
  const { project } = place
  const found = useQuery({
    queryKey: ['projects', project.id, 'deploy', 'requests', 'one', requestId],
    enabled: requestId !== null,
    queryFn: ({ signal }) =>
      call<RequestDetail>('GET', `/v1/projects/${project.id}/requests/${requestId ?? ''}`, { signal }),
  })
  return (
    <Drawer
      opened={requestId !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title="Call"
      closeButtonProps={{ 'aria-label': 'Close' }}
      // As with dialogs: its element is a <header>, which would pass for a second banner of the page.
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: '1rem' } }}
    >
      {requestId !== null && (
        <Loaded query={found}>{(detail) => <Detail place={place} detail={detail} onFilter={onFilter} />}</Loaded>
      )}
    </Drawer>
  )
}

const entries: Record<RequestDetail['entry'], string> = {
  direct: 'by its name',
  question: 'by a question',
  tool: 'as a tool of an assistant',
  preview: 'as a preview in the app',
}

const caches = {
  hit: 'From the cache: nothing was run',
  miss: 'Run, and cached for the next',
  bypass: 'Run; the caller asked for no cached answer',
}

type DetailProps = { place: Place; detail: RequestDetail; onFilter: Props['onFilter'] }

function Detail({ place, detail, onFilter }: DetailProps) {
  const { id, at, query, version, status, error, reason } = detail
  return (
    <Stack gap="lg">
      <Group gap="xs">
        <Outcome size="lg" status={status} reason={reason} error={error} good="OK" />
        <TryAgain place={place} detail={detail} />
      </Group>
      <dl className={classes['facts']}>
        <dt>Request</dt>
        <dd>
          <Code>{id}</Code> <CopyMark text={id} what="request id" />
        </dd>
        <dt>When</dt>
        <dd>
          <Moment at={at} />, <Ago at={at} />
        </dd>
        <dt>Query</dt>
        <dd>
          {query === null ? (
            'none'
          ) : (
            <>
              <Anchor component={Link} underline="always" href={place.to(`endpoints/${query}`)}>
                {query}
              </Anchor>
              {version !== null && `, version ${version}`}
            </>
          )}
          {detail.environment !== null && ` in ${detail.environment}`}
        </dd>
        <dt>Called</dt>
        <dd>{entries[detail.entry]}</dd>
        <dt>By</dt>
        <dd>
          <Caller place={place} detail={detail} onFilter={onFilter} />
        </dd>
        <dt>Answer</dt>
        <dd className="numbers">
          {sayNumber(detail.rows)} {detail.rows === 1 ? 'row' : 'rows'}, {saySize(detail.bytes)}
          {detail.cache !== null && <Text c="dimmed">{caches[detail.cache]}</Text>}
        </dd>
        {error !== null && (
          <>
            <dt>Error</dt>
            <dd>
              <Anchor underline="always" href={`/docs/troubleshooting#${error}`} target="_blank" rel="noreferrer">
                {error}
              </Anchor>
              {reason !== null && `: ${reason.replaceAll('_', ' ')}`}
            </dd>
          </>
        )}
      </dl>
      <Timings detail={detail} />
      <Question detail={detail} />
      <Values place={place} detail={detail} />
    </Stack>
  )
}

/** The time of a call as a bar of its parts. */
function Timings({ detail }: { detail: RequestDetail }) {
  const { total_ms: totalMs, route_ms: routeMs, queue_ms: queueMs, sql_ms: sqlMs } = detail
  const parts = [
    { label: 'Understanding the question', ms: routeMs ?? 0, color: 'var(--sluice-chart-soft)' },
    { label: 'Waiting and preparing', ms: queueMs, color: 'var(--mantine-color-gray-5)' },
    { label: 'Running the SQL', ms: sqlMs, color: 'var(--sluice-chart-strong)' },
  ].filter(({ ms }) => ms > 0)
  return (
    <section>
      <Title order={3} mb={6}>
        {sayMs(totalMs)} in all
      </Title>
      <div className={classes['timings']} aria-hidden>
        {parts.map(({ label, ms, color }) => (
          <span key={label} style={{ flexGrow: Math.max(ms / Math.max(totalMs, 0.001), 0.01), background: color }} />
        ))}
      </div>
      <ul className={classes['timingParts']} aria-label="Where the time went">
        {parts.map(({ label, ms, color }) => (
          <li key={label}>
            <span className={classes['swatch']} style={{ background: color }} aria-hidden />
            {label} <span className="numbers">{sayMs(ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The values it was called with; where they were not written down, why not and where that is chosen. */
function Values({ place, detail }: { place: Place; detail: RequestDetail }) {
  const { entry, recording, environment, version } = detail
  const values = valuesOf(detail)
  if (entry === 'preview' || (entry === 'question' && values === null)) return null
  return (
    <section>
      <Title order={3} mb={6}>
        Parameters
      </Title>
      {values === null ? (
        <Text c="dimmed">
          {version === null || environment === null
            ? 'It came to no query, so there were no values to keep.'
            : !place.editor
              ? 'Editors see the values of calls that are recorded.'
              : recording
                ? 'The values of this call are not, or no longer, among the recorded ones.'
                : 'The values of calls are not recorded.'}{' '}
          <Anchor component={Link} underline="always" href={paths.settings(place.project.id, 'retention')}>
            {recording ? 'What is recorded' : 'Record calls'}
          </Anchor>
        </Text>
      ) : Object.keys(values).length === 0 ? (
        <Text c="dimmed">None.</Text>
      ) : (
        <PlainTable
          label="Values of the call"
          head={['Slot', 'Value']}
          rows={Object.entries(values).map(([slot, value]) => [<Code key={slot}>{slot}</Code>, sayValue(value)])}
        />
      )}
    </section>
  )
}

/** As they were sent, or as the question was understood. */
function valuesOf({ parameters, asked }: RequestDetail): Record<string, unknown> | null {
  return parameters ?? asked?.parameters ?? null
}

/** The question and how it was understood. */
function Question({ detail: { question, asked, confidence, entry } }: { detail: RequestDetail }) {
  if (entry !== 'question' && question === null && asked === null) return null
  const sure = asked?.confidence ?? confidence
  return (
    <section>
      <Title order={3} mb={6}>
        The question
      </Title>
      <Stack gap="xs">
        <Text>{question === null ? 'Its words are not kept.' : `“${question}”`}</Text>
        {asked !== null && (
          <Text c="dimmed">
            {asked.outcome === 'answered'
              ? `Answered by ${asked.query ?? 'a query'}`
              : `Not answered (${asked.outcome.replaceAll('_', ' ')})${asked.query === null ? '' : `; the nearest was ${asked.query}`}`}
            {sure !== null && `, ${sayShare(sure)} sure`}.
          </Text>
        )}
      </Stack>
    </section>
  )
}

function TryAgain({ place, detail }: { place: Place; detail: RequestDetail }) {
  const { question, query, entry } = detail
  const values = valuesOf(detail)
  if (question !== null && entry === 'question') {
    const href = askPath(place.project.id, place.environment, question)
    return <AgainButton href={href} icon={<MessageCircleQuestion size={14} aria-hidden />} says="Open in Ask" />
  }
  if (query === null) return null
  // A parameter with the name of a secret is not recorded, so it is typed again.
  const known = Object.entries(values ?? {}).filter(([, value]) => value !== '***')
  const given = known.length > 0 ? Object.fromEntries(known) : undefined
  const href = tryPath(place.project.id, query, place.environment, given)
  return <AgainButton href={href} icon={<SquareTerminal size={14} aria-hidden />} says="Try it again" />
}

function AgainButton({ href, icon, says }: { href: string; icon: ReactNode; says: string }) {
  return (
    <Button component={Link} href={href} variant="default" size="xs" leftSection={icon}>
      {says}
    </Button>
  )
}

function Caller({ place, detail: { key_id: id, key_name: name }, onFilter }: DetailProps) {
  const isOwner = place.project.role === 'owner'
  if (id === null) return 'no API key'
  return (
    <Group gap="xs">
      {isOwner ? (
        <Anchor component={Link} underline="always" href={place.to(`keys/${id}`)}>
          {name ?? id}
        </Anchor>
      ) : (
        (name ?? id)
      )}
      <Button variant="subtle" size="compact-xs" onClick={() => onFilter('key', id)}>
        Its other calls
      </Button>
    </Group>
  )
}
