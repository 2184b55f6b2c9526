import { Button, Group, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { MessageCircleQuestion } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { RefusalNotice } from '../../parts/refusal.tsx'
import { Row, Rows } from '../../parts/rows.tsx'
import { Ago } from '../../parts/time.tsx'
import { useAct } from '../../queries.ts'
import type { Page } from '../../wire.ts'
import { questionsKey } from './asked-questions.tsx'
import type { Place } from './place.ts'
import { deployKeys, useQueryList } from './queries.ts'
import type { QuestionGroup } from './wire.ts'

/** What nobody could answer, in groups of about the same, those asked most first. */
export function Unanswered({ place, most = 200 }: { place: Place; most?: number }) {
  const { project, environment } = place
  const groups = useQuery({
    queryKey: [...questionsKey(project.id), 'groups', environment, most],
    queryFn: async ({ signal }) => {
      const path = `/v1/projects/${project.id}/questions/unanswered?environment=${environment}&limit=${most}`
      return (await call<Page<QuestionGroup>>('GET', path, { signal })).data
    },
  })
  return (
    <Loaded query={groups}>
      {(list) =>
        list.length === 0 ? (
          <Empty icon={<MessageCircleQuestion size={20} />} guide="ask-questions">
            Every question that was asked had an answer.
          </Empty>
        ) : (
          <Rows label="Unanswered questions">
            {list.map((group) => (
              <GroupRow key={group.question} place={place} group={group} />
            ))}
          </Rows>
        )
      }
    </Loaded>
  )
}

function GroupRow({ place: { project, editor }, group }: { place: Place; group: QuestionGroup }) {
  const queries = useQueryList(project.id)
  const [chosen, setChosen] = useState(group.nearest ?? '')
  const resolve = useAct(
    (as: 'example' | 'dismissed') =>
      call<{ resolved: number }>('POST', `/v1/projects/${project.id}/questions/resolve`, {
        body: {
          questions: group.questions.map(({ text }) => text),
          as,
          ...(as === 'example' && { query: chosen }),
        },
      }),
    {
      refresh: [questionsKey(project.id), deployKeys.queries(project.id)],
      say: (_, as) =>
        as === 'example' ? `An example of ${chosen}'s draft now. Deploy it to have it answered.` : 'Set aside.',
    },
  )
  const others = group.questions.filter(({ text }) => text !== group.question)
  return (
    <Row
      end={
        editor && (
          <Group gap="xs">
            <Select
              aria-label={`Query that should answer “${group.question}”`}
              placeholder="Query"
              size="xs"
              w={180}
              data={queries.data?.map(({ name }) => name) ?? []}
              value={chosen === '' ? null : chosen}
              onChange={(name) => setChosen(name ?? '')}
            />
            <Button
              size="xs"
              variant="default"
              disabled={chosen === ''}
              loading={resolve.isPending}
              onClick={() => resolve.mutate('example')}
            >
              Make it an example
            </Button>
            <Button size="xs" variant="subtle" color="gray" onClick={() => resolve.mutate('dismissed')}>
              Set aside
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
      <RefusalNotice error={resolve.error} />
    </Row>
  )
}
