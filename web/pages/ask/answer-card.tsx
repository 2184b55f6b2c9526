import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { ThumbsDown } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { deployPath } from '../../browser/paths.ts'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { refusalOf, rowsOf } from '../query/call/calls.ts'
import type { Place } from '../deploy/shared/place.ts'
import type { CallTarget } from '../query/call/snippet-text.ts'
import { Snippets } from '../query/call/snippets.tsx'
import { sayShare } from '../deploy/shared/words.ts'
import { fileOf } from './answer-file.ts'
import { AnswerRows } from './answer-rows.tsx'
import classes from './ask.module.css'
import { HowFound } from './how-found.tsx'
import { NextSteps } from './next-steps.tsx'
import { requestIdOf, type More, type QuestionResult } from './question-result.ts'
import { leftOutWords, sayChanged, sayRefusal } from './question-words.ts'
import { SlotChips } from './slot-chips.tsx'
import type { Turn } from './use-thread.ts'
import { wholeQuestion } from './whole-question.ts'
import { WrongAnswer } from './wrong-answer.tsx'

type Props = {
  place: Place
  turn: Turn
  target: CallTarget
  onAgain: (more: More) => void
  onEdit: (query: string, parameters: Record<string, unknown>) => void
  onCancel: () => void
}

/** One question with its answer, or with what it needs to be answered. */
export function AnswerCard({ place, turn, target, onAgain, onEdit, onCancel }: Props) {
  const { question, outcome, result, error, isCancelled } = turn
  const refusal = outcome === null || result !== null ? null : refusalOf(outcome.body)
  return (
    <Paper component="article" aria-label={question} radius="lg" p="lg" className={classes['card'] ?? ''}>
      <Stack gap="md">
        <Title order={2} className={classes['asked'] ?? ''}>
          {question}
        </Title>
        <div aria-live="polite" className={classes['status']}>
          {outcome === null && error === null && !isCancelled && (
            <Group gap="sm">
              <Text c="dimmed">Looking for the answer …</Text>
              <Button size="compact-xs" variant="default" onClick={onCancel}>
                Cancel
              </Button>
            </Group>
          )}
          {isCancelled && <Text c="dimmed">Cancelled: nobody waited for the answer.</Text>}
          {refusal !== null && (
            <Text>
              {outcome?.status} {refusal.message}
            </Text>
          )}
          {result !== null && <FirstLines turn={turn} result={result} />}
        </div>
        <RefusalNotice error={error} />
        {result?.outcome === 'answered' && <Answered place={place} turn={turn} result={result} onEdit={onEdit} />}
        {result !== null && result.outcome !== 'answered' && (
          <NextSteps place={place} result={result} onAgain={onAgain} />
        )}
        {result !== null && <Reasons place={place} turn={turn} result={result} target={target} />}
      </Stack>
    </Paper>
  )
}

/** Facts to read an answer with: words that it leaves out, the question that it follows, and its period. */
function FirstLines({ turn: { earlier, isEdited }, result }: { turn: Turn; result: QuestionResult }) {
  const { outcome, changed, standsAlone, parameters, routing } = result
  const isAnswered = outcome === 'answered'
  const leftOut = isEdited ? '' : leftOutWords(result)
  return (
    <>
      {!isAnswered && <Text fw={500}>{sayRefusal(result)}</Text>}
      {leftOut !== '' && (
        <Text c="var(--sluice-danger)">
          {isAnswered ? `This answer may leave out ${leftOut}.` : `${leftOut} cannot be applied here.`}
        </Text>
      )}
      {earlier !== null && changed !== null && <Text c="dimmed">{sayChanged(changed, parameters, earlier)}</Text>}
      {earlier !== null && standsAlone && (
        <Text c="dimmed">{`A question of its own: nothing of “${earlier.question}” was kept.`}</Text>
      )}
      {isAnswered && routing.period !== null && <Text c="dimmed">Period: {routing.period.text}.</Text>}
    </>
  )
}

type AnsweredProps = Pick<Props, 'place' | 'turn' | 'onEdit'> & { result: QuestionResult }

function Answered({ place, turn, result, onEdit }: AnsweredProps) {
  const { project, environment } = place
  const { outcome, isEdited } = turn
  const { query, parameters, confidence } = result
  if (outcome === null) return null
  const body = outcome.body as { as_of?: string | null; version?: number; truncated?: boolean }
  return (
    <>
      <AnswerRows
        outcome={outcome}
        rows={rowsOf(outcome.body) ?? []}
        question={isEdited ? undefined : measuresOf(turn, result)}
        storageKey={query === null ? undefined : `${project.id} query ${query}`}
        download={fileOf(place, { result, outcome, request: turn.request })}
      />
      <fieldset className={`numbers ${classes['facts'] ?? ''}`} aria-label="Answered by">
        {query !== null && (
          <Anchor
            component={Link}
            href={deployPath(project.id, `endpoints/${query}`, environment)}
            className={classes['query'] ?? ''}
          >
            {query}
          </Anchor>
        )}
        {query !== null && body.version !== undefined && (
          <SlotChips
            projectId={project.id}
            query={query}
            version={body.version}
            parameters={parameters}
            onEdit={(values) => onEdit(query, values)}
          />
        )}
        {typeof body.as_of === 'string' && (
          <span>
            data of <Ago at={body.as_of} />
          </span>
        )}
        {confidence !== null && !isEdited && <span>{sayShare(confidence)} sure</span>}
        {isEdited && <span>values changed by hand</span>}
      </fieldset>
    </>
  )
}

/** A follow-up says little by its own words: the measure may stand in the question before it. */
function measuresOf({ question, earlier }: Turn, { changed }: QuestionResult): string {
  if (earlier === null || changed === null) return question
  return `${question} ${earlier.whole?.text ?? earlier.question}`
}

type ReasonsProps = Pick<Props, 'place' | 'turn' | 'target'> & { result: QuestionResult }

/** How the answer was found, the same question from code, and the way to say that it is wrong. */
function Reasons({ place, turn, result, target }: ReasonsProps) {
  const [reporting, setReporting] = useState(false)
  const { question, earlier, outcome, request, isEdited } = turn
  const isAnswered = result.outcome === 'answered'
  const isFollowUp = result.changed !== null && earlier !== null
  const isLogged = isAnswered && !isFollowUp && request.key !== null && outcome !== null
  const follows = isFollowUp
    ? { question: earlier.question, whole: wholeQuestion(question, result, earlier.whole)?.text ?? null }
    : null
  return (
    <div className={classes['reasons']}>
      {place.editor && !isEdited && (
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<ThumbsDown size={14} aria-hidden />}
          className={classes['report'] ?? ''}
          onClick={() => setReporting(true)}
        >
          {isAnswered ? 'This answer is wrong' : 'It should be answered'}
        </Button>
      )}
      <details className={classes['more']}>
        <summary>How was this found?</summary>
        <HowFound question={question} result={result} />
      </details>
      <details className={classes['more']}>
        <summary>From your code</summary>
        <Text c="dimmed" size="xs" mb="xs">
          The same question. Put an API key into the environment as SLUICE_API_KEY.
        </Text>
        <Snippets target={target} body={bodyOf(place.project.id, turn, result)} />
      </details>
      <WrongAnswer
        place={place}
        opened={reporting}
        onClose={() => setReporting(false)}
        question={question}
        result={result}
        follows={follows}
        // The words of a follow-up alone are no reason to answer others like them differently.
        requestId={isLogged ? requestIdOf(outcome) : null}
      />
    </div>
  )
}

/** The question as code sends it; one that was answered on its own follows none. */
function bodyOf(projectId: string, { question, more, earlier }: Turn, { changed }: QuestionResult): object {
  const asked = { query: question, project_id: projectId, ...more }
  if (earlier === null || changed === null) return asked
  // A trial has no request that a key could name.
  return { ...asked, follows: earlier.requestId ?? 'REQUEST_ID_OF_THE_ANSWER_BEFORE' }
}
