import { Anchor, Button, Code, Group } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { Ago, Moment } from '../../parts/text/time.tsx'
import classes from '../deploy/shared/deploy.module.css'
import type { Place } from '../deploy/shared/place.ts'
import { useContinue, useRelease } from './release-acts.ts'
import { ReleasePlan } from './release-plan.tsx'
import { ReleaseSheet } from './release-sheet.tsx'
import { sayQueries, sayRelease } from './release-words.ts'
import { ReleaseState } from './releases.tsx'
import { Who } from '../deploy/shared/who.tsx'
import type { Release } from '../deploy/shared/wire.ts'

/** One release: what it did, what it meant, and the way back. */
export function ReleasePage({ place, releaseId }: { place: Place; releaseId: string }) {
  const release = useRelease(place.project.id, releaseId)
  const [isGoingBack, setGoingBack] = useState(false)
  return (
    <Loaded query={release}>
      {(found) => (
        <>
          <Heading
            title={found.message ?? `Release of ${sayQueries(found.queries.length)}`}
            within={place.project.name}
            action={<Actions place={place} release={found} releaseId={releaseId} onBack={() => setGoingBack(true)} />}
          >
            <Who place={place} label={found.created_by} /> {sayRelease(summaryOf(found))} <Ago at={found.created_at} />.
          </Heading>
          <Facts place={place} release={found} />
          <ReleasePlan place={place} release={found} order={2} />
          {isGoingBack && (
            <ReleaseSheet
              place={place}
              act={{ kind: 'rollback', releaseId, environment: found.environment }}
              onClose={() => setGoingBack(false)}
            />
          )}
        </>
      )}
    </Loaded>
  )
}

/** Buttons: roll out or back during a trial, back once it serves everyone. */
function Actions({ place, release, releaseId, onBack }: Acting) {
  const goOn = useContinue(place.project.id, releaseId)
  const isTriedOut = release.status === 'canary' || release.status === 'shadow'
  if (!place.editor || !(isTriedOut || release.status === 'released')) return <ReleaseState status={release.status} />
  return (
    <Group gap="sm">
      {isTriedOut && <ReleaseState status={release.status} />}
      <Button variant="default" onClick={onBack}>
        Roll back
      </Button>
      {isTriedOut && (
        <Button loading={goOn.isPending} onClick={() => goOn.mutate()}>
          Roll out to all
        </Button>
      )}
      <RefusalNotice error={goOn.error} />
    </Group>
  )
}
type Acting = { place: Place; release: Release; releaseId: string; onBack: () => void }

function summaryOf({ act, queries, promoted_from: from, environment }: Release) {
  const names = queries.map(({ name }) => name)
  return { act, query_count: names.length, query_names: names, promoted_from: from, environment }
}

function Facts({ place, release }: { place: Place; release: Release }) {
  const { commit, forced, rolls_back: rollsBack, rolled_back_by: rolledBackBy } = release
  return (
    <dl className={classes['facts']} style={{ marginBottom: '1.5rem' }}>
      <dt>When</dt>
      <dd>
        <Moment at={release.created_at} />
      </dd>
      {commit !== null && (
        <>
          <dt>Commit</dt>
          <dd>
            <Code>{commit}</Code>
          </dd>
        </>
      )}
      {forced && (
        <>
          <dt>Forced</dt>
          <dd>Failed checks were overridden.</dd>
        </>
      )}
      <Other place={place} label="Rolls back" releaseId={rollsBack} />
      <Other place={place} label="Rolled back by" releaseId={rolledBackBy} />
    </dl>
  )
}

function Other({ place, label, releaseId }: { place: Place; label: string; releaseId: string | null }) {
  if (releaseId === null) return null
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <Anchor component={Link} href={place.to(`releases/${releaseId}`)}>
          another release
        </Anchor>
      </dd>
    </>
  )
}
