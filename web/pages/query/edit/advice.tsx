import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Lightbulb } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../../client/api.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import type { Project } from '../../../client/wire.ts'
import type { Query, QueryAdvice } from '../../build/shared/wire.ts'
import classes from './query.module.css'
import type { Content } from '../draft/content.ts'
import type { QueryDraft } from '../draft/use-query-draft.ts'

type Props = { project: Project; query: Query; draft: QueryDraft }

/** Suggestions that make questions find the query more surely: made after each save, and on request. */
export function AdviceList({ project, query, draft }: Props) {
  const [wanted, setWanted] = useState<number | null>(null)
  const [taken, setTaken] = useState<string[]>([])
  const seen = useRef(query.revision)
  useEffect(() => {
    if (seen.current === query.revision) return
    seen.current = query.revision
    setWanted(query.revision)
    setTaken([])
  }, [query.revision])
  const advice = useQuery({
    queryKey: ['projects', project.id, 'queries', query.name, 'advice', query.revision],
    enabled: wanted === query.revision,
    queryFn: ({ signal }) =>
      call<{ data: QueryAdvice[] }>('GET', `/v1/projects/${project.id}/queries/${query.name}/advice`, { signal }),
    staleTime: Infinity,
    retry: false,
  })
  const left = (advice.data?.data ?? []).filter(({ message }) => !taken.includes(message))
  return (
    <section aria-label="Advice">
      <Stack gap="sm">
        <Group justify="space-between">
          <div>
            <Title order={2}>Question check</Title>
            <Text size="xs" c="dimmed">
              What the description leaves out, and other queries that come close. Runs after each save.
            </Text>
          </div>
          <Button
            variant="default"
            leftSection={<Lightbulb size={14} aria-hidden />}
            loading={advice.isFetching}
            disabled={draft.dirty}
            onClick={() => (wanted === query.revision ? void advice.refetch() : setWanted(query.revision))}
          >
            Run now
          </Button>
        </Group>
        <RefusalNotice error={advice.error} />
        {advice.isSuccess && left.length === 0 && (
          <Text size="sm" c="dimmed">
            {taken.length === 0 ? 'No suggestions.' : 'All applied. Save the draft.'}
          </Text>
        )}
        {left.map((each) => (
          <Group key={each.message} justify="space-between" wrap="nowrap" className={classes.example ?? ''}>
            <Text size="sm">{each.message}</Text>
            {each.change !== null && (
              <Button
                variant="light"
                size="compact-sm"
                flex="none"
                aria-label={`Take: ${sayChange(each)}`}
                onClick={() => {
                  draft.take(applied(draft.content, each))
                  setTaken([...taken, each.message])
                }}
              >
                {sayChange(each)}
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </section>
  )
}

function sayChange({ kind, about, change }: QueryAdvice): string {
  if (kind === 'period_end') return 'Fix the SQL'
  if (kind === 'unsaid') return `Add “${about ?? ''}”`
  const slot = change?.slots?.properties[about ?? '']
  return `Use “${slot?.description ?? ''}”`
}

/** Onto what stands there now: several may be taken one after the other. */
function applied(content: Content, { kind, about, change }: QueryAdvice): Partial<Content> {
  if (kind === 'period_end') return change?.sql === undefined ? {} : { sql: change.sql }
  if (kind === 'unsaid') {
    const text = content.description.trim()
    const isFirst = text === '' || about === null
    const added = `${text.replace(/[.\s]+$/u, '')}, ${about ?? ''}${text.endsWith('.') ? '.' : ''}`
    return { description: isFirst ? (change?.description ?? text) : added }
  }
  const slot = change?.slots?.properties[about ?? '']
  if (about === null || slot === undefined) return {}
  return { slots: { ...content.slots, properties: { ...content.slots.properties, [about]: slot } } }
}
