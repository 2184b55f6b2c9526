import { List, Text, Title } from '@mantine/core'
import { Ago, Moment } from '../../parts/text/time.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { CallsBehind } from './recorded-calls.tsx'
import type { Release } from '../deploy/shared/wire.ts'

/** A canary or shadow: whom it serves, and its figures beside those of the version before. */
export function TriedOut({ place, release, order }: { place: Place; release: Release; order: 2 | 3 }) {
  const trial = release.canary ?? release.shadow
  if (trial === null) return null
  const compared = trial.compared
  return (
    <section>
      <Title order={order} size="h3" mb={4}>
        {release.canary === null ? 'Shadow' : 'Canary'}
      </Title>
      <Text c="dimmed">
        {sayServing(release, trial)} since <Moment at={trial.started_at} />
        {trial.ended_at !== null && (
          <>
            , until <Ago at={trial.ended_at} />
          </>
        )}
        .{trial.because !== null && ` Rolled back: ${trial.because}`}
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
      {trial.replay_id !== null && <CallsBehind place={place} replayId={trial.replay_id} />}
    </section>
  )
}

/** Whom a trial serves, or served until it ended. */
function sayServing({ canary }: Release, { percent, ended_at: endedAt }: Trial): string {
  if (canary === null)
    return endedAt === null ? 'Running alongside, serving nothing,' : 'Ran alongside, serving nothing,'
  return `${endedAt === null ? 'Serving' : 'Served'} ${percent} % of keys`
}

type Trial = NonNullable<Release['canary']>
type Seen = Trial['queries'][number]['after']

function sayFigures({ calls, errors, p95_ms: p95 }: Seen): string {
  if (calls === 0) return 'no calls yet'
  return `${calls} calls, ${errors} failed${p95 === null ? '' : `, p95 ${Math.round(p95)} ms`}`
}
