import { Badge, Button, Text } from '@mantine/core'
import { MessageCircleQuestion } from 'lucide-react'
import { Empty } from '../../parts/text/empty.tsx'
import { PagedRows } from '../../parts/table/more.tsx'
import { Row } from '../../parts/table/rows.tsx'
import { Ago, sayExactly } from '../../parts/text/time.tsx'
import { usePages } from '../../client/queries.ts'
import { Link } from 'wouter'
import { askPath } from '../../browser/paths.ts'
import type { Place } from '../deploy/shared/place.ts'
import type { LoggedQuestion } from '../deploy/shared/wire.ts'
import { sayShare } from '../deploy/shared/words.ts'

export const questionsKey = (projectId: string) => ['projects', projectId, 'deploy', 'questions']

/** The questions asked, newest first: everything, or those that one query answered or came nearest to. */
export function AskedQuestions({ place, query }: { place: Place; query: string | null }) {
  const { project, environment } = place
  const asked = usePages<LoggedQuestion>(
    [...questionsKey(project.id), 'asked', environment, query],
    `/v1/projects/${project.id}/questions?environment=${environment}&limit=50${query === null ? '' : `&query=${query}`}`,
  )
  return (
    <PagedRows
      pages={asked}
      label="Latest questions"
      what="questions"
      empty={
        <Empty
          icon={<MessageCircleQuestion size={20} />}
          guide="ask-questions"
          action={
            <Button component={Link} variant="default" href={askPath(project.id, environment)}>
              Ask one
            </Button>
          }
        >
          {query === null ? 'Nothing was asked yet.' : `No question has come to ${query} in ${environment} yet.`}
        </Empty>
      }
    >
      {(each) => <AskedRow key={each.id} place={place} asked={each} />}
    </PagedRows>
  )
}

const outcomes: Record<LoggedQuestion['outcome'], string> = {
  answered: 'Answered',
  no_match: 'No match',
  ambiguous: 'Ambiguous',
  missing_slots: 'Needs a value',
  unexpressed: 'Partly covered',
  unsure: 'Unsure',
  period_end: 'Loses part of a period',
}

function AskedRow({ place, asked }: { place: Place; asked: LoggedQuestion }) {
  const { text, outcome, query, at, confidence, request_id: requestId } = asked
  const calls = place.to('requests')
  return (
    <Row
      end={
        <Badge
          variant="light"
          tt="none"
          radius="sm"
          color={outcome === 'answered' ? 'green' : 'yellow'}
          c="var(--mantine-color-text)"
        >
          {outcomes[outcome]}
        </Badge>
      }
    >
      <Text>{text === null ? 'The text is not kept' : `“${text}”`}</Text>
      <Text size="xs" c="dimmed">
        {query !== null && `${outcome === 'answered' ? 'by' : 'nearest'} ${query} · `}
        {confidence !== null && `${sayShare(confidence)} sure · `}
        <Ago at={at} />
        {requestId !== null && (
          <>
            {' · '}
            <Link
              href={`${calls}${calls.includes('?') ? '&' : '?'}request=${requestId}`}
              aria-label={`the call of ${sayExactly(at)}${text === null ? '' : `: “${text}”`}`}
            >
              the call
            </Link>
          </>
        )}
      </Text>
    </Row>
  )
}
