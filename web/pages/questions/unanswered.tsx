import { Button, Checkbox, Group, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { MessageCircleQuestion } from 'lucide-react'
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { call } from '../../client/api.ts'
import { Empty } from '../../parts/text/empty.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { Rows } from '../../parts/table/rows.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { useAct } from '../../client/queries.ts'
import type { Page } from '../../client/wire.ts'
import { questionsKey } from './asked-questions.tsx'
import { DraftDialog } from './draft-dialog.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { sayCount } from '../../text/words.ts'
import classes from './questions.module.css'
import { TeachDialog } from './teach-dialog.tsx'
import type { QuestionGroup } from '../deploy/shared/wire.ts'

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

/** Unanswered questions, in groups of about the same, those asked most first; `most` of them where they are a part of a page. */
export function Unanswered({ place, most }: { place: Place; most?: number }) {
  const { project, editor } = place
  const groups = useUnanswered(project.id, place.environment)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const ignore = useAct(
    async (these: QuestionGroup[]) => {
      for (const { questions } of these) {
        const body = { questions: questions.map(({ text }) => text), as: 'dismissed' }
        await call<{ resolved: number }>('POST', `/v1/projects/${project.id}/questions/resolve`, { body })
      }
    },
    { refresh: [questionsKey(project.id)], say: () => 'Ignored.' },
  )
  return (
    <Loaded query={groups}>
      {(all) => {
        const list = all.slice(0, most)
        const these = list.filter(({ question }) => chosen.includes(question))
        if (list.length === 0) {
          return (
            <Empty icon={<MessageCircleQuestion size={20} />} guide="ask-questions">
              Every question that was asked had an answer.
            </Empty>
          )
        }
        return (
          <>
            {editor && most === undefined && <Bulk list={list} these={these} onChoose={setChosen} ignore={ignore} />}
            <RefusalNotice error={ignore.error} />
            <Rows label="Unanswered questions">
              {list.map((group) => (
                <GroupRow
                  key={group.question}
                  place={place}
                  group={group}
                  onIgnore={() => ignore.mutate([group])}
                  choice={
                    editor &&
                    most === undefined && (
                      <Checkbox
                        aria-label={`Choose “${group.question}”`}
                        checked={chosen.includes(group.question)}
                        onChange={({ currentTarget: { checked } }) =>
                          setChosen(
                            checked
                              ? [...chosen, group.question]
                              : chosen.filter((question) => question !== group.question),
                          )
                        }
                      />
                    )
                  }
                />
              ))}
            </Rows>
          </>
        )
      }}
    </Loaded>
  )
}

type BulkProps = {
  list: QuestionGroup[]
  these: QuestionGroup[]
  onChoose: (questions: string[]) => void
  ignore: ReturnType<typeof useAct<void, QuestionGroup[]>>
}

function Bulk({ list, these, onChoose, ignore }: BulkProps) {
  return (
    <div className={classes.bulk}>
      <Checkbox
        aria-label="Choose all"
        checked={these.length === list.length}
        indeterminate={these.length > 0 && these.length < list.length}
        onChange={({ currentTarget: { checked } }) => onChoose(checked ? list.map(({ question }) => question) : [])}
      />
      <Button
        size="xs"
        variant="default"
        disabled={these.length === 0}
        loading={ignore.isPending}
        onClick={() => ignore.mutate(these, { onSuccess: () => onChoose([]) })}
      >
        {these.length === 0 ? 'Ignore what is chosen' : `Ignore ${sayCount(these.length, 'question')}`}
      </Button>
    </div>
  )
}

type RowProps = { place: Place; group: QuestionGroup; choice: ReactNode; onIgnore: () => void }

/** One line; it opens to the other words of the same question, and to what can be done about it. */
function GroupRow({ place, group, choice, onIgnore }: RowProps) {
  const [isOpen, setOpen] = useState(false)
  const [acting, setActing] = useState<'teach' | 'draft' | null>(null)
  const others = group.questions.filter(({ text }) => text !== group.question)
  const close = (): void => setActing(null)
  return (
    <li className={classes.group}>
      <div className={classes.line}>
        {choice}
        <UnstyledButton
          className={classes.opens ?? ''}
          aria-expanded={isOpen}
          data-row
          onClick={() => setOpen(!isOpen)}
          onKeyDown={moveBetweenRows}
        >
          <span className={classes.words}>“{group.question}”</span>
          <Text component="span" size="xs" c="dimmed">
            {group.count === 1 ? 'once' : `${group.count} times`}, last <Ago at={group.last_at} />
          </Text>
        </UnstyledButton>
      </div>
      {isOpen && (
        <div className={classes.details}>
          {others.length > 0 && (
            <Text size="sm" c="dimmed">
              also {others.map(({ text }) => `“${text}”`).join(', ')}
            </Text>
          )}
          <Text size="sm">{whatToDo(group)}</Text>
          {place.editor && (
            <Group gap="xs">
              {group.could_answer === 'nearest' && (
                <Button size="xs" onClick={() => setActing('teach')}>
                  Make it an example…
                </Button>
              )}
              {group.could_answer !== 'nothing' && (
                <Button size="xs" variant="default" onClick={() => setActing('draft')}>
                  New query…
                </Button>
              )}
              <Button size="xs" variant="subtle" color="gray" onClick={onIgnore}>
                Ignore
              </Button>
            </Group>
          )}
        </div>
      )}
      <DraftDialog place={place} group={group} opened={acting === 'draft'} onClose={close} />
      <TeachDialog place={place} group={group} opened={acting === 'teach'} onClose={close} />
    </li>
  )
}

/** Up and down go from one line to the next, as in a mailbox. */
function moveBetweenRows(event: KeyboardEvent<HTMLButtonElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const rows = [...(event.currentTarget.closest('ul')?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
  const next = rows[rows.indexOf(event.currentTarget) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
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
