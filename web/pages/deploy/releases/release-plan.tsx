import { Badge, List, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { Growing } from '../../../parts/table/more.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { Verdict } from '../../../parts/verdict.tsx'
import classes from '../shared/deploy.module.css'
import { MovedQuestions } from '../shared/moved-questions.tsx'
import type { Place } from '../shared/place.ts'
import { RecordedCalls } from './recorded-calls.tsx'
import { TriedOut } from './release-trial.tsx'
import { sayMeaning, sayQuestions, sayVersions } from './release-words.ts'
import { sayChange } from '../shared/words.ts'
import type { Release } from '../shared/wire.ts'

type Props = {
  place: Place
  release: Release
  /** Below the title of what it stands in. */
  order?: 2 | 3
}

/** What a release does, or would do: to callers, to questions, and query by query. */
export function ReleasePlan({ place, release, order = 3 }: Props) {
  const isBreaking = release.queries.some(({ compatibility }) => compatibility === 'breaking')
  return (
    <Stack gap="lg">
      <Verdict says={sayMeaning(release)} bad={isBreaking} />
      <section>
        <Title order={order} size="h3" mb={4}>
          Questions
        </Title>
        <Text c="dimmed">{sayQuestions(release)}</Text>
        <MovedQuestions routing={release.routing} />
      </section>
      {release.replay !== null && <RecordedCalls place={place} replay={release.replay} order={order} />}
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

/** What somebody must look at comes before what nobody notices. */
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
      color={compatibility === 'breaking' ? 'red' : 'tide'}
      tt="none"
      radius="sm"
      c="var(--mantine-color-text)"
    >
      {says}
    </Badge>
  )
}
