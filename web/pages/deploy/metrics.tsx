import { Button, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Card } from '../../parts/card.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Link } from 'wouter'
import type { ChartLine, ChartPoint } from '../../parts/chart.tsx'
import classes from './deploy.module.css'
import type { Place } from './place.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { QuestionInsights } from './question-insights.tsx'
import { UsageFilterBar, useUsageFilter } from './usage-filter.tsx'
import { useMetrics, useMetricsBefore } from './usage-queries.ts'
import type { Metrics } from './usage-wire.ts'
import { sayNumber } from '../../words.ts'
import { sayGrowth, sayMs, sayShare } from './words.ts'

const Chart = lazy(async () => ({ default: (await import('../../parts/chart.tsx')).Chart }))

/** How much is called, how fast, and how well. */
export function MetricsPage({ place }: { place: Place }) {
  const { project, environment } = place
  const { hours, query } = useUsageFilter()
  const metrics = useMetrics(project.id, { environment, query }, hours)
  const before = useMetricsBefore(project.id, { environment, query }, hours)
  return (
    <>
      <Heading title="Metrics" within={project.name}>
        Calls in {environment}, as they were answered. New ones appear within half a minute.
      </Heading>
      <UsageFilterBar place={place} withRange />
      <Loaded query={metrics}>
        {(found) => (
          <Stack gap="lg">
            <Figures place={place} metrics={found} before={before.data} hours={hours} />
            <Callers place={place} metrics={found} />
            <QuestionInsights place={place} metrics={found} />
          </Stack>
        )}
      </Loaded>
    </>
  )
}

/** The same of one endpoint. */
export function EndpointMetrics({ place, name }: { place: Place; name: string }) {
  return <MetricsOf place={place} filter={{ environment: place.environment, query: name }} />
}

/** The same of one key, in whatever environment. */
export function KeyMetrics({ place, keyId }: { place: Place; keyId: string }) {
  return <MetricsOf place={place} filter={{ environment: null, key: keyId }} />
}

function MetricsOf({ place, filter }: { place: Place; filter: Parameters<typeof useMetrics>[1] }) {
  const { hours } = useUsageFilter()
  const metrics = useMetrics(place.project.id, filter, hours)
  const before = useMetricsBefore(place.project.id, filter, hours)
  return (
    <>
      <UsageFilterBar place={place} withRange withQuery={false} />
      <Loaded query={metrics}>
        {(found) => <Figures place={place} metrics={found} before={before.data} hours={hours} />}
      </Loaded>
    </>
  )
}

type FiguresProps = { place: Place; metrics: Metrics; before: Metrics | undefined; hours: number }

function Figures({ place, metrics, before, hours }: FiguresProps) {
  const { totals, series } = metrics
  const label = labelOf(metrics)
  const points = series.map(({ time, ...figures }): ChartPoint => ({
    time,
    requests: figures.requests,
    answered: figures.requests - figures.errors,
    errors: figures.errors,
    rejected: figures.rejected,
    average_ms: figures.average_ms,
    p50_ms: figures.p50_ms,
    p95_ms: figures.p95_ms,
    p99_ms: figures.p99_ms,
    error_percent: figures.requests === 0 ? null : figures.error_rate * 100,
  }))
  return (
    <Stack gap="lg">
      <dl className={classes['tiles']}>
        <Tile
          label="Calls"
          value={sayNumber(totals.requests)}
          more={[
            sayGrowth(totals.requests, before?.totals.requests, hours),
            totals.rejected === 0 ? '' : `${sayNumber(totals.rejected)} turned away`,
          ]
            .filter(Boolean)
            .join(', ')}
        />
        <Tile
          label="Errors"
          value={sayShare(totals.error_rate)}
          more={`${sayNumber(totals.errors)} of ${sayNumber(totals.requests)}`}
        />
        <Tile label="Average" value={sayMs(totals.average_ms)} more={`median ${sayMs(totals.p50_ms)}`} />
        <Tile label="95 of 100 within" value={sayMs(totals.p95_ms)} more={`99 within ${sayMs(totals.p99_ms)}`} />
      </dl>
      <Figure
        title="Calls"
        unit=""
        kind="bar"
        points={points}
        label={label}
        lines={[
          { name: 'answered', label: 'Answered', color: 'var(--sluice-chart-strong)' },
          { name: 'errors', label: 'Errors', color: 'red.7' },
          ...(totals.rejected === 0 ? [] : [{ name: 'rejected', label: 'Turned away', color: 'gray.6' }]),
        ]}
      />
      <Figure
        title="Response time"
        unit=" ms"
        kind="line"
        points={points}
        label={label}
        lines={[
          { name: 'average_ms', label: 'Average', color: 'gray.6', dashed: true },
          { name: 'p50_ms', label: 'Median', color: 'var(--sluice-chart-soft)' },
          { name: 'p95_ms', label: '95th percentile', color: 'var(--sluice-chart-strong)' },
          { name: 'p99_ms', label: '99th percentile', color: 'orange.7' },
        ]}
      />
      <Figure
        title="Error rate"
        unit=" %"
        kind="line"
        points={points}
        label={label}
        lines={[{ name: 'error_percent', label: 'Error rate', color: 'red.7' }]}
      />
      <Popular place={place} metrics={metrics} />
      <Errors metrics={metrics} />
    </Stack>
  )
}

function Tile({ label, value, more }: { label: string; value: string; more: string }) {
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
          {more}
        </Text>
      </dd>
    </Paper>
  )
}

type FigureProps = {
  title: string
  unit: string
  kind: 'bar' | 'line'
  points: ChartPoint[]
  label: (time: string) => string
  lines: ChartLine[]
}

function Figure({ title, unit, kind, points, label, lines }: FigureProps) {
  const [tabled, setTabled] = useState(false)
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
      ) : (
        <Suspense fallback={<Skeleton height={220} />}>
          <Chart kind={kind} points={points} lines={lines} unit={unit} sayMoment={label} stacked />
        </Suspense>
      )}
    </Card>
  )
}

function Popular({ place, metrics: { popular_queries: popular } }: { place: Place; metrics: Metrics }) {
  return (
    <Card title="Popular queries">
      {popular.length === 0 ? (
        <Text c="dimmed">Nothing was called in this time.</Text>
      ) : (
        <PlainTable
          label="Popular queries"
          head={['Query', 'Calls', 'Errors', 'Average', '95 of 100 within']}
          figures={['Calls', 'Errors', 'Average', '95 of 100 within']}
          whole="Query"
          rows={popular.map((each) => [
            <Link key={each.query} href={place.to(`endpoints/${each.query}`)} className={classes['name'] ?? ''}>
              {each.query}
            </Link>,
            each.requests.toLocaleString('en'),
            sayShare(each.error_rate),
            sayMs(each.average_ms),
            sayMs(each.p95_ms),
          ])}
        />
      )}
    </Card>
  )
}

/** Who called, and who was turned away. */
function Callers({ place, metrics: { by_key: keys } }: { place: Place; metrics: Metrics }) {
  if (keys.length === 0) return null
  const isOwner = place.project.role === 'owner'
  const figures = ['Calls', 'Errors', 'Turned away', 'Average']
  return (
    <Card title="Keys" about="Who called. Turned away are calls without the right, or beyond a limit of the key.">
      <PlainTable
        label="Keys"
        head={['Key', ...figures]}
        figures={figures}
        whole="Key"
        rows={keys.map(({ key_id: id, name, requests, error_rate: errors, rejected, average_ms: average }) => [
          isOwner ? (
            <Link key={id} href={place.to(`keys/${id}`)}>
              {name ?? id}
            </Link>
          ) : (
            (name ?? id)
          ),
          sayNumber(requests),
          sayShare(errors),
          sayNumber(rejected),
          sayMs(average),
        ])}
      />
    </Card>
  )
}

function Errors({ metrics: { errors } }: { metrics: Metrics }) {
  if (errors.length === 0) return null
  return (
    <Card title="What went wrong">
      <PlainTable
        label="What went wrong"
        head={['Status', 'Error', 'Reason', 'Calls']}
        figures={['Calls']}
        whole="Error"
        rows={errors.map(({ status, error, reason, count }) => [
          String(status),
          error,
          reason ?? '',
          count.toLocaleString('en'),
        ])}
      />
    </Card>
  )
}

function sayValue(value: number | string | null | undefined, unit: string): string {
  if (typeof value !== 'number') return 'none'
  return `${value.toLocaleString('en', { maximumFractionDigits: 1 })}${unit}`
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
