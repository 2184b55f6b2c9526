import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { MessageCircleQuestion } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { useAct } from '../../../client/queries.ts'
import type { Page } from '../../../client/wire.ts'
import { questionsKey } from './asked-questions.tsx'
import { DraftDialog } from './draft-dialog.tsx'
import type { Place } from '../shared/place.ts'
import { TeachDialog } from './teach-dialog.tsx'
import type { QuestionGroup } from '../shared/wire.ts'

const mostGroups = 200

export function useUnanswered(projectId: string, environment: string) {
  return useQuery({
    queryKey: [...questionsKey(projectId), 'groups', environment],
    queryFn: async ({ signal }) => {
      const path = `/v1/projects/${projectId}/questions/unanswered?environment=${environment}&limit=${mostGroups}`
      return (await call<Page<QuestionGroup>>('GET', path, { signal })).data
    },
  })
}

/** Unanswered questions, in groups of about the same, those asked most first. */
export function Unanswered({ place, most = mostGroups }: { place: Place; most?: number }) {
  const groups = useUnanswered(place.project.id, place.environment)
  return (
    <Loaded query={groups}>
      {(list) =>
        list.length === 0 ? (
          <Empty icon={<MessageCircleQuestion size={20} />} guide="ask-questions">
            Every question that was asked had an answer.
          </Empty>
        ) : (
          <Rows label="Unanswered questions">
            {list.slice(0, most).map((group) => (
              <GroupRow key={group.question} place={place} group={group} />
            ))}
          </Rows>
        )
      }
    </Loaded>
  )
}

function GroupRow({ place, group }: { place: Place; group: QuestionGroup }) {
  const { project, editor } = place
  const [teaching, setTeaching] = useState(false)
  const [drafting, setDrafting] = useState(false)
  const dismiss = useAct(
    () =>
      call<{ resolved: number }>('POST', `/v1/projects/${project.id}/questions/resolve`, {
        body: { questions: group.questions.map(({ text }) => text), as: 'dismissed' },
      }),
    { refresh: [questionsKey(project.id)], say: () => 'Ignored.' },
  )
  const others = group.questions.filter(({ text }) => text !== group.question)
  return (
    <Row
      end={
        editor && (
          <Group gap="xs">
            {group.could_answer === 'nearest' && (
              <Button
                size="xs"
                variant="default"
                aria-label={`Make it an example…: “${group.question}”`}
                onClick={() => setTeaching(true)}
              >
                Make it an example…
              </Button>
            )}
            {group.could_answer !== 'nothing' && (
              <Button
                size="xs"
                variant="default"
                aria-label={`New query… for “${group.question}”`}
                onClick={() => setDrafting(true)}
              >
                New query…
              </Button>
            )}
            <Button
              size="xs"
              variant="subtle"
              color="gray"
              loading={dismiss.isPending}
              aria-label={`Ignore “${group.question}”`}
              onClick={() => dismiss.mutate()}
            >
              Ignore
            </Button>
          </Group>
        )
      }
    >
      <Text fw={500}>“{group.question}”</Text>
      {others.length > 0 && (
        <Text size="xs" c="dimmed">
          also{' '}
          {others
            .slice(0, 3)
            .map(({ text }) => `“${text}”`)
            .join(', ')}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {group.count === 1 ? 'once' : `${group.count} times`}, last <Ago at={group.last_at} />
        {group.nearest !== null && ` · nearest: ${group.nearest}`}
      </Text>
      <Text size="xs">{whatToDo(group)}</Text>
      <RefusalNotice error={dismiss.error} />
      <DraftDialog place={place} group={group} opened={drafting} onClose={() => setDrafting(false)} />
      <TeachDialog place={place} group={group} opened={teaching} onClose={() => setTeaching(false)} />
    </Row>
  )
}

/** The remedy for a group, by why most of its questions were not answered. */
function whatToDo({ outcomes, nearest, could_answer: could }: QuestionGroup): string {
  if (could === 'nothing') return 'Questions only read: no query can do this. Ignore it.'
  if (could === 'new_query')
    return `${nearest ?? 'The nearest query'} lists and does not count. Write a query that counts.`
  const [most = 'no_match'] = Object.entries(outcomes)
    .toSorted(([, one], [, other]) => other - one)
    .map(([outcome]) => outcome)
  const query = nearest ?? 'a query'
  switch (most) {
    case 'missing_slots':
      return `${query} needs a value that it does not say. Callers are asked for it; a default in ${query} would answer it as it is.`
    case 'unexpressed':
      return `${query} would leave out a part of it. A query that takes that part answers it.`
    case 'unsure':
      return `${query} may answer it, but not surely enough. If it does, make it an example.`
    case 'period_end':
      return `${query} would lose a part of the period. Its page in Build has the SQL that does not.`
    case 'ambiguous':
      return 'Several queries could answer it. Make it an example of the one that should.'
    default:
      return nearest === null
        ? 'Nothing here is about it. Write a query for it, or set it aside.'
        : `If ${nearest} answers it, make it an example; if not, write a query for it.`
  }
}
