import { Button, Group, Paper, Stack, Text, Textarea, UnstyledButton } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { ArrowUp } from 'lucide-react'
import { useEffect, useRef, useState, type RefObject } from 'react'
import { useCaller } from '../query/call/call.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { versionOf } from '../deploy/shared/queries.ts'
import type { CallTarget } from '../query/call/snippet-text.ts'
import type { LiveDeployment } from '../deploy/shared/wire.ts'
import { AnswerCard } from './answer-card.tsx'
import classes from './ask.module.css'
import { sayValues } from './question-words.ts'
import { useThread, type Earlier } from './use-thread.ts'

/** So many questions are offered, of as many queries. */
const mostOffered = 6

type Props = {
  place: Place
  live: LiveDeployment[]
  /** The question of the address. */
  first: string
  onAsk: (question: string) => void
}

/** The field, and above it the questions that were asked with their answers. */
export function Thread({ place, live, first, onAsk }: Props) {
  const { project, environment } = place
  const [question, setQuestion] = useState(first)
  const [isAlone, setAlone] = useState(false)
  const caller = useCaller(true)
  const target: CallTarget = { kind: 'question', projectId: project.id, environment }
  const thread = useThread({ target, key: caller.key })
  const earlier = isAlone ? null : thread.earlier
  const field = useRef<HTMLTextAreaElement>(null)
  const newest = useNewestInView(thread.turns.length)
  const ask = async (words: string): Promise<void> => {
    setAlone(false)
    if (earlier === null) onAsk(words)
    const { result } = await thread.ask(words, earlier)
    // Words that were not answered stay, to be put otherwise.
    if (result?.outcome === 'answered') setQuestion((now) => (now === words ? '' : now))
  }
  return (
    <Stack gap="lg">
      {thread.turns.map((turn, at) => (
        <div key={turn.id} ref={at === thread.turns.length - 1 ? newest : undefined} className={classes['turn']}>
          <AnswerCard
            place={place}
            turn={turn}
            target={target}
            onAgain={(more) => void thread.again(turn, more)}
            onEdit={(query, parameters) => void thread.edit(turn, query, parameters)}
            onCancel={thread.cancel}
          />
        </div>
      ))}
      <QuestionField
        {...{ question, setQuestion, earlier, thread, field }}
        ready={caller.key !== ''}
        onAsk={() => void ask(question)}
        onNew={() => {
          thread.clear()
          setAlone(true)
          field.current?.focus()
        }}
      />
      {thread.turns.length === 0 && (
        <Offered
          projectId={project.id}
          live={live}
          onChoose={(words) => {
            setQuestion(words)
            void ask(words)
          }}
        />
      )}
      <details className={classes['more']}>
        <summary>Ask as a caller</summary>
        <div className={classes['caller']}>
          <Text size="xs" c="dimmed">
            With an API key the question takes the way of a caller: it counts against the key, and is recorded.
          </Text>
          {caller.field}
        </div>
      </details>
    </Stack>
  )
}

type FieldProps = {
  question: string
  setQuestion: (question: string) => void
  earlier: Earlier | null
  thread: ReturnType<typeof useThread>
  field: RefObject<HTMLTextAreaElement | null>
  /** Whether there is a key to ask with. */
  ready: boolean
  onAsk: () => void
  onNew: () => void
}

function QuestionField({ question, setQuestion, earlier, thread, field, ready, onAsk, onNew }: FieldProps) {
  return (
    <Paper component="section" aria-label="Your question" radius="lg" p="md" className={classes['field'] ?? ''}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (question.trim() !== '' && !thread.isPending) onAsk()
        }}
      >
        <Stack gap="sm">
          <Textarea
            ref={field}
            label={earlier === null ? 'Question' : 'Follow-up question'}
            placeholder={earlier === null ? 'revenue in the north since March' : 'and in the south?'}
            size="md"
            variant="unstyled"
            autosize
            minRows={1}
            maxRows={8}
            maxLength={2000}
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
              event.preventDefault()
              event.currentTarget.form?.requestSubmit()
            }}
          />
          <Group justify="space-between" gap="sm">
            <FollowNote earlier={earlier} hasTurns={thread.turns.length > 0} onNew={onNew} />
            <Button
              type="submit"
              rightSection={<ArrowUp size={15} aria-hidden />}
              loading={thread.isPending}
              disabled={question.trim() === '' || !ready}
            >
              Ask
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}

type FollowProps = { earlier: Earlier | null; hasTurns: boolean; onNew: () => void }

/** The question that the next one follows, with its values: a follow-up of a follow-up says little by its words alone. */
function FollowNote({ earlier, hasTurns, onNew }: FollowProps) {
  if (!hasTurns) return <span />
  const values = earlier === null ? '' : sayValues(earlier.parameters)
  return (
    <Group gap="xs" flex="1 1 12rem">
      {earlier !== null && (
        <Text size="xs" c="dimmed">
          {`Follow-up to “${earlier.question}” (${earlier.query}${values === '' ? '' : ` with ${values}`}).`}
        </Text>
      )}
      <Button size="compact-xs" variant="subtle" color="gray" onClick={onNew}>
        New question
      </Button>
    </Group>
  )
}

type OfferedProps = { projectId: string; live: LiveDeployment[]; onChoose: (question: string) => void }

/** Example questions of a few deployed queries: the first of each, then the second, until there are enough. */
function Offered({ projectId, live, onChoose }: OfferedProps) {
  const versions = useQueries({
    queries: live.slice(0, mostOffered).map(({ name, version }) => versionOf({ projectId, name }, version)),
  })
  const ranked = versions.flatMap(({ data }) => data?.examples.map(({ question }, rank) => ({ question, rank })) ?? [])
  const questions = [...new Set(ranked.toSorted((a, b) => a.rank - b.rank).map(({ question }) => question))]
  if (questions.length === 0) return null
  return (
    <section aria-label="Questions that are answered here">
      <Text size="xs" c="dimmed" mb="xs">
        Questions that are answered here
      </Text>
      <Group gap="xs">
        {questions.slice(0, mostOffered).map((question) => (
          <UnstyledButton key={question} className={classes['chip'] ?? ''} onClick={() => onChoose(question)}>
            {question}
          </UnstyledButton>
        ))}
      </Group>
    </section>
  )
}

/** A new question is scrolled to, so that its answer comes where one looks. */
function useNewestInView(count: number) {
  const newest = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (count > 1) newest.current?.scrollIntoView({ block: 'start' })
  }, [count])
  return newest
}
