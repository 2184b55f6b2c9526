import { Anchor, Button, Group, Paper, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { ChartColumn, ZoomOut } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Card } from '../../parts/text/card.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Link } from 'wouter'
import { useAfterPaint } from '../../parts/chart/after-paint.ts'
import type { ChartLine, ChartPoint, Pointed } from '../../parts/chart/chart.tsx'
import classes from '../deploy/shared/deploy.module.css'
import type { Place } from '../deploy/shared/place.ts'
import { PlainTable } from '../../parts/table/list.tsx'
import { QuestionInsights } from './question-insights.tsx'
import { Callers, Errors, Popular } from './metrics-tables.tsx'
import { SavedViews } from './saved-views.tsx'
import { TimeChart, type Mark } from './time-chart.tsx'
import { sayBefore, saySpan, type Span } from '../../parts/chart/spans.ts'
import { filterOf, SpanBar, UsageFilterBar, useUsageFilter, type UsageView } from './usage-filter.tsx'
import { useMetrics, useMetricsBefore, useTimeline, type UsageFilter } from '../deploy/shared/usage-queries.ts'
import type { Metrics } from '../deploy/shared/usage-wire.ts'
import { sayNumber } from '../../text/words.ts'
import { sayGrowth, sayMs, sayShare } from '../deploy/shared/words.ts'

/** How much is called, how fast, and how well. */
export function MetricsPage({ place }: { place: Place }) {
  const { project, environment } = place
  const view = useUsageFilter()
  return (
    <>
      <Heading title="Usage" within={project.name} action={<SavedViews place={place} page="metrics" />}>
        Calls in {environment}. New ones appear within half a minute; drag over a chart to look closer.
      </Heading>
      <UsageFilterBar place={place} />
      <MetricsOf place={place} view={view} filter={filterOf(environment, view)} whole />
    </>
  )
}

/** The same of one endpoint. */
export function EndpointMetrics({ place, name }: { place: Place; name: string }) {
  const view = useUsageFilter()
  return (
    <>
      <SpanBar />
      <MetricsOf place={place} view={view} filter={{ environment: place.environment, query: name }} />
    </>
  )
}

/** The same of one key, in whatever environment. */
export function KeyMetrics({ place, keyId }: { place: Place; keyId: string }) {
  const view = useUsageFilter()
  return (
    <>
      <SpanBar />
      <MetricsOf place={place} view={view} filter={{ environment: null, key: keyId }} />
    </>
  )
}

type OfProps = { place: Place; view: UsageView; filter: UsageFilter; whole?: boolean }

function MetricsOf(props: OfProps) {
  const { place, view, filter, whole = false } = props
  const { span } = view
  const metrics = useMetrics(place.project.id, filter, span)
  const before = useMetricsBefore(place.project.id, filter, span)
  const timeline = useTimeline(place.project.id, filter.environment, span)
  // Calls that came within one piece of time are looked at more closely.
  const narrow = metrics.data === undefined || view.compare ? null : onlyPiece(metrics.data)
  const closer = useMetrics(place.project.id, filter, narrow ?? span, narrow !== null)
  const isPainted = useAfterPaint()
  return (
    <Loaded query={metrics}>
      {(found) => (
        <Stack gap="lg">
          <Tiles metrics={found} before={before.data} span={span} calls={callsOf(props)} />
          {narrow !== null && (
            <Text size="sm" c="dimmed">
              The charts show {saySpan(narrow)}, when all of them came.
            </Text>
          )}
          {isNothing(found) ? (
            <Nothing place={place} view={view} filter={filter} />
          ) : (
            <Charts
              place={place}
              view={view}
              metrics={narrow === null ? found : (closer.data ?? found)}
              before={view.compare ? before.data : undefined}
              marks={timeline.data?.data ?? []}
            />
          )}
          {isPainted && !isNothing(found) && <Errors metrics={found} wayTo={(more) => callsOf(props, more)} />}
          {isPainted && !isNothing(found) && <Popular place={place} metrics={found} />}
          {isPainted && whole && <Callers place={place} metrics={found} />}
          {isPainted && whole && <QuestionInsights place={place} metrics={found} />}
        </Stack>
      )}
    </Loaded>
  )
}

/** An hour is drawn minute by minute; what is shorter is drawn as it is. */
const leastPieceMs = 30 * 60_000

/** The piece of time that has all calls; null where they are spread. */
function onlyPiece({ series }: Metrics): Span | null {
  const [busy, ...others] = series.filter(({ requests, rejected }) => requests + rejected > 0)
  const pieceMs = Date.parse(series[1]?.time ?? '') - Date.parse(series[0]?.time ?? '')
  if (busy === undefined || others.length > 0 || !(pieceMs >= leastPieceMs)) return null
  return { from: busy.time, to: new Date(Date.parse(busy.time) + pieceMs).toISOString() }
}

function isNothing({ totals }: Metrics): boolean {
  return totals.requests + totals.rejected === 0
}

/** Where nothing was called: why that may be, and the way on. */
function Nothing({ place, view, filter }: Omit<OfProps, 'whole'>) {
  const { span, chosen, choose } = view
  const isFiltered = Object.values(chosen).some((value) => value !== null)
  const isShort = 'from' in span || span.hours < 720
  const { query = null } = filter
  const call = place.to(query === null ? 'endpoints' : `endpoints/${query}/try`)
  const all = Object.fromEntries(Object.keys(chosen).map((name) => [name, '']))
  return (
    <Empty
      icon={<ChartColumn size={20} />}
      guide="metrics-and-alerts"
      action={
        <Group justify="center">
          {isFiltered ? (
            <Button variant="default" onClick={() => choose(all)}>
              Show all calls
            </Button>
          ) : (
            <Button component={Link} href={call}>
              Make a call
            </Button>
          )}
          {isShort && (
            <Button variant="default" onClick={() => choose({ hours: '720', from: '', to: '' })}>
              Look at the last 30 days
            </Button>
          )}
        </Group>
      }
    >
      {isFiltered
        ? 'No call of this time fits what is chosen above.'
        : `Nothing was called ${'hours' in span ? `in ${saySpan(span).toLowerCase()}` : 'in this time'}. Charts appear with the first call.`}
    </Empty>
  )
}

/** The same choice in the list of calls, narrowed further. */
function callsOf({ place, view: { span, chosen }, filter }: OfProps, more: Record<string, string> = {}): string {
  const search = new URLSearchParams('from' in span ? span : { hours: String(span.hours) })
  const { environment: _, ...of } = filter
  for (const [name, value] of Object.entries({ ...chosen, ...of, ...more }))
    if (value !== null && value !== undefined) search.set(name, value)
  const page = place.to('requests')
  return `${page}${page.includes('?') ? '&' : '?'}${search}`
}

type TilesProps = { metrics: Metrics; before: Metrics | undefined; span: Span; calls: string }

function Tiles({ metrics: { totals }, before, span, calls }: TilesProps) {
  const then = before?.totals
  const ago = sayBefore(span)
  const errorsThen = then === undefined || then.requests === 0 ? '' : `${sayShare(then.error_rate)} ${ago}`
  const slowThen = then === undefined || then.p95_ms === null ? '' : `${sayMs(then.p95_ms)} ${ago}`
  const averageThen = then === undefined || then.average_ms === null ? '' : `${sayMs(then.average_ms)} ${ago}`
  const away = totals.rejected === 0 ? '' : `${sayNumber(totals.rejected)} rejected`
  return (
    <dl className={classes['tiles']}>
      <Tile
        label="Calls"
        value={
          <Anchor
            component={Link}
            href={calls}
            inherit
            c="inherit"
            aria-label={`${sayNumber(totals.requests)} calls, one by one`}
          >
            {sayNumber(totals.requests)}
          </Anchor>
        }
        more={[sayGrowth(totals.requests, then?.requests, ago), away]}
      />
      <Tile
        label="Errors"
        value={sayShare(totals.error_rate)}
        more={[`${sayNumber(totals.errors)} of ${sayNumber(totals.requests)}`, errorsThen]}
      />
      <Tile label="Average" value={sayMs(totals.average_ms)} more={[averageThen, `median ${sayMs(totals.p50_ms)}`]} />
      <Tile label="p95" value={sayMs(totals.p95_ms)} more={[slowThen, `p99 ${sayMs(totals.p99_ms)}`]} />
    </dl>
  )
}

/** Figures of each piece of time; pieces of the time before stand under those of the same place. */
function pointsOf({ series }: Metrics, before: Metrics | undefined): ChartPoint[] {
  return series.map(({ time, ...figures }, at) => {
    const then = before?.series[at]
    return {
      time,
      answered: figures.requests - figures.errors,
      errors: figures.errors,
      rejected: figures.rejected,
      average_ms: figures.average_ms,
      p50_ms: figures.p50_ms,
      p95_ms: figures.p95_ms,
      p99_ms: figures.p99_ms,
      error_percent: figures.requests === 0 ? null : figures.error_rate * 100,
      before_calls: then?.requests ?? null,
      before_p95_ms: then?.p95_ms ?? null,
      before_error_percent: then === undefined || then.requests === 0 ? null : then.error_rate * 100,
    }
  })
}

/** Three drawings of them; lines of the time before only where it is compared. */
function figuresOf({ totals }: Metrics, before: Metrics | undefined, span: Span): DrawnFigure[] {
  const then = sayBefore(span)
  const capital = then.charAt(0).toUpperCase() + then.slice(1)
  const past = (name: string, more: Partial<ChartLine> = {}): ChartLine[] =>
    before === undefined ? [] : [{ name, label: capital, color: colors.past, dashed: true, ...more }]
  // Beside the calls, whose bars are as many as their tile says: a limit turned these away.
  const rejected = { name: 'rejected', label: 'Rejected', color: colors.other, stack: 'rejected' }
  const calls = [
    { name: 'answered', label: 'Answered', color: colors.strong, stack: 'now' },
    { name: 'errors', label: 'Errors', color: colors.bad, stack: 'now' },
    ...(totals.rejected === 0 ? [] : [rejected]),
    ...past('before_calls', { stack: 'before' }),
  ]
  const times = [
    { name: 'average_ms', label: 'Average', color: colors.other, dashed: true },
    { name: 'p50_ms', label: 'Median', color: 'var(--sluice-chart-neutral)' },
    { name: 'p95_ms', label: 'p95', color: colors.strong },
    { name: 'p99_ms', label: 'p99', color: 'var(--sluice-chart-soft)', dashed: true },
    ...past('before_p95_ms', { label: `p95, ${then}` }),
  ]
  const errors = [{ name: 'error_percent', label: 'Error rate', color: colors.bad }, ...past('before_error_percent')]
  return [
    { title: 'Calls', unit: '', kind: 'bar', lines: calls },
    { title: 'Response time', unit: ' ms', kind: 'line', lines: times },
    { title: 'Error rate', unit: ' %', kind: 'line', lines: errors },
  ]
}

const colors = {
  strong: 'var(--sluice-chart-strong)',
  bad: 'var(--mantine-color-red-7)',
  other: 'var(--mantine-color-gray-6)',
  past: 'var(--mantine-color-gray-5)',
}

type ChartsProps = { place: Place; view: UsageView; metrics: Metrics; before: Metrics | undefined; marks: Mark[] }

function Charts({ place, view, metrics, before, marks }: ChartsProps) {
  const pointed = useState<number | null>(null)
  const exact = 'from' in view.span ? view.span : null
  return (
    <Stack gap="lg">
      {exact !== null && (
        <Button
          variant="subtle"
          size="compact-sm"
          w="fit-content"
          leftSection={<ZoomOut size={14} aria-hidden />}
          onClick={() => view.choose(zoomedOut(exact), true)}
        >
          Zoom out
        </Button>
      )}
      <SimpleGrid cols={{ base: 1, lg: 3 }}>
        {figuresOf(metrics, before, view.span).map((figure) => (
          <Figure
            key={figure.title}
            {...figure}
            place={place}
            points={pointsOf(metrics, before)}
            label={labelOf(metrics)}
            pointed={pointed}
            marks={marks}
            end={metrics.to}
            onZoom={(from, to) => view.choose({ hours: '', from, to }, true)}
          />
        ))}
      </SimpleGrid>
    </Stack>
  )
}

/** Three times as long around the same middle, and never beyond now. */
function zoomedOut({ from, to }: { from: string; to: string }): { from: string; to: string } {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const wide = end - start
  return { from: new Date(start - wide).toISOString(), to: new Date(Math.min(Date.now(), end + wide)).toISOString() }
}

/** A figure, and what puts it into proportion; what is empty is left out. */
function Tile({ label, value, more }: { label: string; value: ReactNode; more: string[] }) {
  return (
    <Paper
      className={classes['tile'] ?? ''}
      radius="lg"
      p="md"
      bd="1px solid var(--sluice-line)"
      bg="var(--sluice-surface)"
    >
      <dt>{label}</dt>
      <dd>
        <span className={`${classes['figure']} numbers`}>{value}</span>
        <Text component="span" size="xs" c="dimmed" className="numbers">
          {more.filter((each) => each !== '').join(', ')}
        </Text>
      </dd>
    </Paper>
  )
}

type DrawnFigure = { title: string; unit: string; kind: 'bar' | 'line'; lines: ChartLine[] }
type FigureProps = DrawnFigure & {
  place: Place
  points: ChartPoint[]
  label: (time: string) => string
  /** All charts point at the same moment. */
  pointed: Pointed
  marks: Mark[]
  end: string
  onZoom: (from: string, to: string) => void
}

function Figure({ title, unit, label, ...drawn }: FigureProps) {
  const { points, lines } = drawn
  const [tabled, setTabled] = useState(false)
  const isPainted = useAfterPaint()
  return (
    <Card
      title={title}
      about={
        <Button variant="subtle" size="compact-xs" ml={-6} aria-expanded={tabled} onClick={() => setTabled(!tabled)}>
          {tabled ? `Show ${title.toLowerCase()} as a chart` : `Show ${title.toLowerCase()} as a table`}
        </Button>
      }
    >
      {tabled ? (
        <PlainTable
          label={title}
          head={['Time', ...lines.map((line) => line.label)]}
          rows={points
            .toReversed()
            .map((point) => [label(String(point['time'])), ...lines.map(({ name }) => sayValue(point[name], unit))])}
        />
      ) : !isPainted ? (
        <Skeleton height={220} />
      ) : (
        <TimeChart {...drawn} sayValue={(value) => sayValue(value, unit)} sayMoment={label} />
      )}
    </Card>
  )
}

function sayValue(value: number | string | null | undefined, unit: string): string {
  if (typeof value !== 'number') return 'none'
  return `${value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 1 ? 3 : 1 })}${unit}`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const hour = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** As exact as the interval, and no more. */
function labelOf({ interval, from, to }: Metrics): (time: string) => string {
  const oneDay = Date.parse(to) - Date.parse(from) <= 86_400_000
  const format = interval === '1d' ? day : oneDay ? clock : hour
  return (time) => format.format(new Date(time))
}
