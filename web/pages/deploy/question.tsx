import { Code, Mark, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useState } from 'react'
import { Card } from '../../parts/card.tsx'
import { useComeIntoView } from '../../parts/come-into-view.ts'
import { CallAnswer, CallButtons, useCall, useCaller } from './call.tsx'
import type { Outcome } from './calls.ts'
import classes from './deploy.module.css'
import type { Place } from './place.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { headersOf, pathOf, type CallTarget } from './snippet-text.ts'
import { Snippets } from './snippets.tsx'
import type { Routing } from './wire.ts'

type Props = {
  place: Place
  /** The question of the address, which can be sent on. */
  first: string
  onAsk: (question: string) => void
}

/** Asks in plain language, and shows why the answer is what it is. */
export function QuestionConsole({ place, first, onAsk }: Props) {
  const { project, environment } = place
  const [question, setQuestion] = useState(first)
  const [asked, setAsked] = useState('')
  const caller = useCaller(true)
  const target: CallTarget = { kind: 'question', projectId: project.id, environment }
  const timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const call = useCall((signal) =>
    caller.key === null
      ? {
          path: `/v1/projects/${project.id}/ask`,
          headers: {},
          body: { question, environment, run: true, time_zone: timeZone },
          key: null,
          signal,
        }
      : {
          path: pathOf(target),
          headers: headersOf(target),
          body: { query: question, project_id: project.id, explain: true, time_zone: timeZone },
          key: caller.key,
          signal,
        },
  )
  const answered = useComeIntoView<HTMLDivElement>(call.outcome)
  return (
    <Stack gap="lg">
      <div className={classes['console']}>
        <Paper component="section" radius="lg" p="lg" bg="var(--sluice-surface)" bd="1px solid var(--sluice-line)">
          <form
            onSubmit={(event) => {
              event.preventDefault()
              setAsked(question)
              onAsk(question)
              call.start()
            }}
          >
            <Stack gap="md">
              {caller.field}
              <Textarea
                label="Question"
                placeholder="revenue in the north since March"
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
              <CallButtons call={call} verb="Ask" ready={question.trim() !== '' && caller.key !== ''} />
            </Stack>
          </form>
        </Paper>
        <Stack gap="lg" ref={answered}>
          {call.outcome !== undefined && <Explanation question={asked} outcome={call.outcome} />}
          <CallAnswer call={call} waiting="Ask to see which query answers, and with which values." />
        </Stack>
      </div>
      <Card title="From your code" about="The same question. Put an API key into the environment as SLUICE_API_KEY.">
        <Snippets target={target} body={{ query: question, project_id: project.id }} />
      </Card>
    </Stack>
  )
}

/** An answer, a refusal and a trial tell of the routing under the same names. */
type Told = {
  query_used?: string | null
  outcome?: string
  reason?: string
  message?: string | null
  routing?: Routing
}

function Explanation({ question, outcome: { body } }: { question: string; outcome: Outcome }) {
  const told = (typeof body === 'object' && body !== null ? body : {}) as Told
  const { routing } = told
  if (routing === undefined) return null
  return (
    <section>
      <Title order={2} mb="sm">
        How it was understood
      </Title>
      <Stack gap="md">
        <Text fw={500}>{sayOutcome(told, routing)}</Text>
        <Text aria-label="The question, with the words that gave values">{marked(question, routing)}</Text>
        <LeftOut routing={routing} />
        <Values routing={routing} />
        <Candidates routing={routing} />
      </Stack>
    </section>
  )
}

function sayOutcome({ query_used: name, outcome, reason, message }: Told, { confidence, threshold }: Routing): string {
  const least = threshold > 0 ? `; this project answers from ${sayShare(threshold)} on` : ''
  const sure = confidence === null ? '' : ` Confidence ${sayShare(confidence)}${least}.`
  switch (outcome ?? reason ?? 'answered') {
    case 'no_match':
      return message ?? `No deployed query answers this.${sure}`
    case 'ambiguous':
      return `Several queries could answer this.${sure}`
    case 'unexpressed':
      return message ?? `${name ?? 'The nearest query'} leaves out a part of the question.`
    case 'missing_slots':
      return message ?? `${name ?? 'A query'} would answer this, but the question does not say all it needs.`
    default:
      return `Answered by ${name ?? 'a query'}.${sure}`
  }
}

/** The question with the words behind each value marked, and those that the query leaves out. */
function marked(question: string, { sources, unexpressed }: Routing) {
  const found = Object.entries(sources).map(([slot, { start, end }]) => ({ says: slot, start, end, isLeftOut: false }))
  const leftOut = unexpressed.map(({ start, end }) => ({ says: 'not expressed', start, end, isLeftOut: true }))
  const spans = [...leftOut, ...found].toSorted((a, b) => a.start - b.start)
  let reached = 0
  const parts = spans.flatMap(({ says, start, end, isLeftOut }) => {
    if (start < reached || end > question.length) return []
    const before = question.slice(reached, start)
    reached = end
    return [
      before,
      <Mark
        key={start}
        title={says}
        c="var(--mantine-color-text)"
        bg={isLeftOut ? 'var(--sluice-danger-soft)' : 'var(--sluice-warn)'}
        td={isLeftOut ? 'underline' : undefined}
      >
        {question.slice(start, end)}
      </Mark>,
    ]
  })
  return [...parts, question.slice(reached)]
}

function LeftOut({ routing: { unexpressed } }: { routing: Routing }) {
  if (unexpressed.length === 0) return null
  return (
    <PlainTable
      label="Not expressed"
      head={['Not expressed by the query', 'Kind']}
      rows={unexpressed.map(({ text, kind }) => [`“${text}”`, kind.replace('_', ' ')])}
    />
  )
}

function Values({ routing: { parameters, sources } }: { routing: Routing }) {
  const entries = Object.entries(parameters)
  if (entries.length === 0) return null
  return (
    <PlainTable
      label="Values"
      head={['Slot', 'Value', 'From the words']}
      rows={entries.map(([slot, value]) => [
        <Code key={slot}>{slot}</Code>,
        typeof value === 'string' ? value : JSON.stringify(value),
        sources[slot] === undefined ? 'not in the question' : `“${sources[slot].text}”`,
      ])}
    />
  )
}

function Candidates({ routing: { candidates } }: { routing: Routing }) {
  if (candidates.length === 0) return null
  return (
    <PlainTable
      label="Candidates"
      head={['Candidate', 'Confidence', 'Nearest example']}
      rows={candidates
        .slice(0, 5)
        .map(({ name, confidence, example }) => [
          <Code key={name}>{name}</Code>,
          confidence === null ? '' : sayShare(confidence),
          example,
        ])}
      figures={['Confidence']}
    />
  )
}

function sayShare(share: number): string {
  return `${Math.round(share * 100)} %`
}
