import { List, Text, Title } from '@mantine/core'
import { Ago } from '../../parts/time.tsx'
import type { Release } from './wire.ts'

/** What recorded calls said of a release when it was checked. */
export function RecordedCalls({ replay }: { replay: Release['replay'] }) {
  if (replay === null) return null
  return (
    <section>
      <Title order={3} mb={4}>
        Recorded calls
      </Title>
      <Text c="dimmed">
        {replay.summary}
        {replay.status === 'running' && ' The others are still being run.'}
      </Text>
      <List spacing={2} size="sm">
        {replay.queries
          .filter(({ different, failed }) => different + failed > 0)
          .map((query) => (
            <List.Item key={query.name}>{sayQuery(query)}</List.Item>
          ))}
      </List>
    </section>
  )
}

type Replayed = NonNullable<Release['replay']>['queries'][number]

function sayQuery({ name, calls, different, failed, columns }: Replayed): string {
  const where = Object.keys(columns).join(', ')
  const parts = [
    ...(different > 0 ? [`${different} differ${where === '' ? '' : ` in ${where}`}`] : []),
    ...(failed > 0 ? [`${failed} fail`] : []),
  ]
  return `${name}: of ${calls} calls ${parts.join(', ')}`
}

/** How a release that is tried out does, or did. */
export function TriedOut({ release }: { release: Release }) {
  const trial = release.canary ?? release.shadow
  if (trial === null) return null
  const compared = trial.compared
  return (
    <section>
      <Title order={3} mb={4}>
        {release.canary === null ? 'Shadow' : 'Canary'}
      </Title>
      <Text c="dimmed">
        {release.canary === null ? 'It answered nobody' : `It answered ${trial.percent} % of the keys`}, since{' '}
        <Ago at={trial.started_at} />
        {trial.ended_at !== null && (
          <>
            , until <Ago at={trial.ended_at} />
          </>
        )}
        .{trial.because !== null && ` Taken back: ${trial.because}`}
      </Text>
      <List spacing={2} size="sm">
        {trial.queries.map(({ query, after, before }) => (
          <List.Item key={query}>
            {query}: {sayFigures(after)}; on the version before {sayFigures(before)}
          </List.Item>
        ))}
        {compared !== null && (
          <List.Item>
            {compared.different} of {compared.calls} compared calls differ
            {compared.dropped > 0 && `, ${compared.dropped} were not compared for want of room`}
          </List.Item>
        )}
      </List>
    </section>
  )
}

type Seen = NonNullable<Release['canary']>['queries'][number]['after']

function sayFigures({ calls, errors, p95_ms: p95 }: Seen): string {
  if (calls === 0) return 'no calls yet'
  return `${calls} calls, ${errors} failed${p95 === null ? '' : `, p95 ${Math.round(p95)} ms`}`
}
