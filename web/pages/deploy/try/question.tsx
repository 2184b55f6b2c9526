import { Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Card } from '../../../parts/text/card.tsx'
import { useComeIntoView } from '../../../parts/text/come-into-view.ts'
import { chartOf, fileOf } from './answer-file.ts'
import { CallAnswer, CallButtons, useCall, useCaller } from './call.tsx'
import { makeCall, type CallRequest, type Outcome } from './calls.ts'
import classes from '../shared/deploy.module.css'
import type { Place } from '../shared/place.ts'
import { headersOf, pathOf, type CallTarget } from '../shared/snippet-text.ts'
import { Snippets } from '../shared/snippets.tsx'
import { requestIdOf, resultOf, type More, type QuestionResult } from './question-result.ts'
import { LeftOut, sayValues, Understood } from './understood.tsx'
import { wholeQuestion, type WholeQuestion } from './whole-question.ts'

type Props = {
  place: Place
  /** The question of the address, which can be sent on. */
  first: string
  onAsk: (question: string) => void
}

/** An answered question that the next one may go on from. */
type Earlier = {
  question: string
  /** As it would be asked on its own; null where nobody can tell. */
  whole: WholeQuestion | null
  query: string
  parameters: Record<string, unknown>
  requestId: string | null
}

type Asking = { question: string; more: More; earlier: Earlier | null; byKey: boolean }

/** Asks in plain language, and shows the answer, what was understood and what was not. */
export function QuestionConsole({ place, first, onAsk }: Props) {
  const { project, environment } = place
  const [question, setQuestion] = useState(first)
  const [asked, setAsked] = useState<Asking | null>(null)
  const [earlier, setEarlier] = useState<Earlier | null>(null)
  const caller = useCaller(true)
  const target: CallTarget = { kind: 'question', projectId: project.id, environment }
  const call = useCall<Asking>(async (signal, asking) => {
    const outcome = await send({ target, key: caller.key }, signal, asking)
    const result = resultOf(outcome)
    if (result?.outcome === 'answered' && result.query !== null) {
      const { query, parameters } = result
      const whole = wholeQuestion(asking.question, result, asking.earlier?.whole ?? null)
      setEarlier({ question: asking.question, whole, query, parameters, requestId: requestIdOf(outcome) })
    }
    return outcome
  })
  const ask = (more: More = {}): void => {
    // A second try of the same words goes on from where the first one did.
    const isAgain = asked !== null && Object.keys(more).length > 0
    const words = isAgain ? asked.question : question
    const asking = { question: words, more, earlier: isAgain ? asked.earlier : earlier, byKey: caller.key !== null }
    setAsked(asking)
    onAsk(asking.question)
    call.start(asking)
  }
  const answered = useComeIntoView<HTMLDivElement>(call.outcome)
  const result = call.outcome === undefined ? null : resultOf(call.outcome)
  const understood = result !== null && asked !== null && (
    <Understood
      place={place}
      result={result}
      question={asked.question}
      before={asked.earlier}
      requestId={asked.byKey && call.outcome !== undefined ? requestIdOf(call.outcome) : null}
      onAsk={ask}
    />
  )
  const isAnswered = result?.outcome === 'answered'
  const file =
    result === null || asked === null || call.outcome === undefined
      ? undefined
      : fileOf(place, { result, outcome: call.outcome, request: requestOf({ target, key: caller.key }, asked) })
  return (
    <Stack gap="lg">
      <div className={classes['console']}>
        <Paper component="section" radius="lg" p="lg" bg="var(--sluice-surface)" bd="1px solid var(--sluice-line)">
          <form
            onSubmit={(event) => {
              event.preventDefault()
              ask()
            }}
          >
            <Stack gap="md">
              {caller.field}
              <Textarea
                label={earlier === null ? 'Question' : 'Follow-up question'}
                placeholder={earlier === null ? 'revenue in the north since March' : 'and in the south?'}
                autosize
                minRows={3}
                maxLength={2000}
                value={question}
                onChange={(event) => setQuestion(event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.shiftKey) return
                  event.preventDefault()
                  event.currentTarget.form?.requestSubmit()
                }}
              />
              {earlier !== null && (
                <Group gap="xs" justify="space-between">
                  <Text size="xs" c="dimmed" flex="1 1 12rem">
                    {sayEarlier(earlier)}
                  </Text>
                  <Button size="compact-xs" variant="subtle" color="gray" onClick={() => setEarlier(null)}>
                    New question
                  </Button>
                </Group>
              )}
              <CallButtons call={call} verb="Ask" ready={question.trim() !== '' && caller.key !== ''} />
            </Stack>
          </form>
        </Paper>
        <Stack gap="lg" ref={answered}>
          {!isAnswered && understood}
          {isAnswered && <LeftOut result={result} before="This answer may leave out " />}
          <CallAnswer
            call={call}
            waiting="Ask to see the answer, which query gives it, and with which values."
            isExplained={result !== null}
            storageKey={
              result?.query === undefined || result.query === null ? undefined : `${project.id} query ${result.query}`
            }
            download={file}
            chart={chartOf(call.outcome)}
            question={asked?.question}
          />
          {isAnswered && understood}
        </Stack>
      </div>
      <Card title="From your code" about="The same question. Put an API key into the environment as SLUICE_API_KEY.">
        <Snippets
          target={target}
          body={{ query: question, project_id: project.id, ...followsIn({ question, asked, earlier, result }) }}
        />
      </Card>
    </Stack>
  )
}

type Following = { question: string; asked: Asking | null; earlier: Earlier | null; result: QuestionResult | null }

/** The answer that the question follows, for code that asks it; a trial has no request that a key could name. */
function followsIn({ question, asked, earlier, result }: Following): { follows?: string } {
  const isAsked = asked?.question === question
  const before = isAsked ? asked.earlier : earlier
  // A question that was answered on its own, or whose log has forgotten the one before, follows none.
  if (before === null || (isAsked && (result?.changed ?? null) === null)) return {}
  return { follows: before.requestId ?? 'REQUEST_ID_OF_THE_ANSWER_BEFORE' }
}

/** The question that the next one follows, with its values: a follow-up of a follow-up says little by its words alone. */
function sayEarlier({ question, query, parameters }: Earlier): string {
  const values = sayValues(parameters)
  return `Follow-up to “${question}” (${query}${values === '' ? '' : ` with ${values}`}).`
}

type Way = { target: CallTarget; key: string | null }

async function send(way: Way, signal: AbortSignal, asking: Asking): Promise<Outcome> {
  const outcome = await makeCall({ ...requestOf(way, asking), signal })
  // The log may not keep what the question before was answered with; the question is then asked on its own.
  const isForgotten = outcome.status === 404 && way.key !== null && asking.earlier !== null
  return isForgotten ? makeCall({ ...requestOf(way, { ...asking, earlier: null }), signal }) : outcome
}

function requestOf({ target, key }: Way, { question, more, earlier }: Asking): CallRequest {
  const { projectId, environment } = target
  const common = { time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone, ...more }
  if (key === null) {
    const follows = earlier === null ? {} : { follows: { query_name: earlier.query, parameters: earlier.parameters } }
    const body = { question, environment, run: true, ...common, ...follows }
    return { path: `/v1/projects/${projectId}/ask`, headers: {}, body, key }
  }
  const follows = earlier?.requestId === undefined || earlier.requestId === null ? {} : { follows: earlier.requestId }
  const body = { query: question, project_id: projectId, explain: true, ...common, ...follows }
  return { path: pathOf(target), headers: headersOf(target), body, key }
}
