import { Badge, Button, List, Stack, Text, Title } from '@mantine/core'
import { useRef } from 'react'
import { Link } from 'wouter'
import { Growing } from '../../parts/table/more.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { Parts, Verdict } from '../../parts/text/verdict.tsx'
import { sayCount } from '../../text/words.ts'
import classes from '../deploy/shared/deploy.module.css'
import { MovedQuestions } from '../deploy/shared/moved-questions.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { RecordedCalls } from './recorded-calls.tsx'
import { TriedOut } from './release-trial.tsx'
import { changedCalls, isAhead, judgeRelease } from './release-verdict.ts'
import { sayVersions } from './release-words.ts'
import { useReplay } from './replays.ts'
import { sayChange } from '../deploy/shared/words.ts'
import type { Release } from '../deploy/shared/wire.ts'

type Props = {
  place: Place
  release: Release
  /** Below the title of what it stands in. */
  order?: 2 | 3
}

/** The effect of a release: on callers, on questions, and query by query. */
export function ReleasePlan({ place, release, order = 3 }: Props) {
  const replay = useReplay(place.project.id, release.replay?.id ?? null, release.replay ?? undefined).data ?? null
  const { says, mood, parts } = judgeRelease(release, replay)
  const callsRef = useRef<HTMLElement>(null)
  const changed = changedCalls(replay)
  return (
    <Stack gap="lg">
      <Verdict says={says} mood={mood}>
        <Parts parts={parts} />
        {changed > 0 && (
          <Button
            variant="default"
            size="xs"
            mt="xs"
            onClick={() => callsRef.current?.scrollIntoView({ block: 'start' })}
          >
            Review {sayCount(changed, 'changed answer')}
          </Button>
        )}
      </Verdict>
      {release.routing.regressions.length > 0 && (
        <section>
          <Title order={order} size="h3" mb={4}>
            Questions
          </Title>
          <MovedQuestions routing={release.routing} isAhead={isAhead(release)} />
        </section>
      )}
      {replay !== null && <RecordedCalls ref={callsRef} place={place} replay={replay} order={order} />}
      <TriedOut place={place} release={release} order={order} />
      <section>
        <Title order={order} size="h3" mb={6}>
          Queries
        </Title>
        <Growing items={worstFirst(release.queries)} what="queries">
          {(shown) => (
            <Rows label="Queries of the release">
              {shown.map((query) => (
                <QueryRow key={query.name} place={place} query={query} />
              ))}
            </Rows>
          )}
        </Growing>
      </section>
    </Stack>
  )
}

type ReleasedQuery = Release['queries'][number]

const ranks = { breaking: 0, additive: 1, compatible: 2, first: 3 }

/** Changes that need attention come before those that nobody notices. */
function worstFirst(queries: ReleasedQuery[]): ReleasedQuery[] {
  return queries.toSorted(
    (left, right) => ranks[left.compatibility] - ranks[right.compatibility] || (left.name < right.name ? -1 : 1),
  )
}

const maxCallers = 5

function QueryRow({ place, query }: { place: Place; query: ReleasedQuery }) {
  const { name, changes, callers } = query
  return (
    <Row
      end={
        <>
          <Mark query={query} />
          <Badge variant="default" tt="none" radius="sm" fw={500} className="numbers">
            {sayVersions(query)}
          </Badge>
        </>
      }
    >
      <Link href={place.to(`endpoints/${name}`)} className={classes['name'] ?? ''}>
        {name}
      </Link>
      {changes.length > 0 && (
        <List spacing={2} size="sm">
          {changes.map(({ message }) => (
            <List.Item key={message}>{sayChange(message)}</List.Item>
          ))}
        </List>
      )}
      {callers.length > 0 && (
        <Text size="xs" c="dimmed">
          Called by{' '}
          {callers.slice(0, maxCallers).map(({ key_id: id, name: key, last_called_at: at }, position) => (
            <span key={id}>
              {position > 0 && ', '}
              <b>{key ?? id}</b> <Ago at={at} />
            </span>
          ))}
          {callers.length > maxCallers && ` and ${callers.length - maxCallers} more`}
        </Text>
      )}
    </Row>
  )
}

const words = { breaking: 'Breaking', additive: 'Adds something', compatible: null, first: null }

function Mark({ query: { compatibility } }: { query: ReleasedQuery }) {
  const says = words[compatibility]
  if (says === null) return null
  return (
    <Badge
      variant="light"
      color={compatibility === 'breaking' ? 'red' : 'green'}
      tt="none"
      radius="sm"
      c="var(--mantine-color-text)"
    >
      {says}
    </Badge>
  )
}
