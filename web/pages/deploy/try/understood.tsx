import { Button, Code, Group, Mark, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { PlainTable } from '../../../parts/table/plain-table.tsx'
import { deployPath } from '../../../browser/paths.ts'
import classes from '../shared/deploy.module.css'
import type { Place } from '../shared/place.ts'
import { readValues, type Typed } from '../shared/slot-values.ts'
import { SlotsForm } from '../shared/slots-form.tsx'
import type { More, QuestionResult } from './question-result.ts'
import type { Routing } from '../shared/wire.ts'
import { wholeQuestion, type WholeQuestion } from './whole-question.ts'
import { WrongAnswer, type Follows } from './wrong-answer.tsx'

type Before = { question: string; whole: WholeQuestion | null; parameters: Record<string, unknown> }

type Props = {
  place: Place
  result: QuestionResult
  question: string
  /** The question that this one may have gone on from. */
  before: Before | null
  /** Under which the log has it; null for a trial, which it does not keep. */
  requestId: string | null
  onAsk: (more: More) => void
}

/** The reading of the question in one line, and what to do about it; the reasons under it. */
export function Understood({ place, result, question, before, requestId, onAsk }: Props) {
  const { routing } = result
  return (
    <section>
      <Title order={2} mb="sm">
        How it was understood
      </Title>
      <Stack gap="md">
        <Text component="output" display="block">
          {result.changed !== null && before !== null && (
            <>
              <Text component="span">{sayChanged(result.changed, result.parameters, before)}</Text>{' '}
            </>
          )}
          {result.standsAlone && before !== null && (
            <>
              <Text component="span">{`A question of its own: nothing of “${before.question}” was kept.`}</Text>{' '}
            </>
          )}
          <Text component="span" fw={500}>
            <Outcome place={place} result={result} />
          </Text>{' '}
          {hasPeriod(result) && <span>Period: {routing.period?.text}.</span>}{' '}
          {result.outcome !== 'answered' && <LeftOut result={result} after=" cannot be applied here" />}
          {routing.read_as !== null && <span>Read as “{routing.read_as}”.</span>}
        </Text>
        <NextSteps
          place={place}
          result={result}
          question={question}
          before={before}
          requestId={requestId}
          onAsk={onAsk}
        />
        <Text aria-label="The question, with the words that gave values">{marked(question, routing)}</Text>
        <Values result={result} />
        {/* A follow-up was compared with nothing. */}
        {result.changed === null && <Candidates routing={routing} />}
      </Stack>
    </section>
  )
}

/** Only an answer covers a period. */
function hasPeriod({ outcome, routing }: QuestionResult): boolean {
  return outcome === 'answered' && routing.period !== null
}

/** The changes of a follow-up to the question before it. */
function sayChanged(changed: string[], now: Record<string, unknown>, before: Before): string {
  const words = changed.map((slot) => {
    const [value, earlier] = [now[slot], before.parameters[slot]]
    if (value === undefined || value === null) return `${slot} left out`
    const instead = earlier === undefined || earlier === null ? '' : ` instead of ${sayValue(earlier)}`
    return `${slot} is ${sayValue(value)}${instead}`
  })
  return `Follow-up to “${before.question}”: ${words.length === 0 ? 'nothing changed' : words.join(', ')}.`
}

function Outcome({ place, result }: { place: Place; result: QuestionResult }) {
  const { outcome, message, query, confidence, parameters, missing, routing } = result
  const least = routing.threshold > 0 ? `; this project answers from ${sayShare(routing.threshold)} on` : ''
  const sure = confidence === null ? '' : `, ${sayShare(confidence)} sure${least}`
  if (outcome === 'ambiguous') return `Several queries could answer this${sure}.`
  if (outcome === 'unexpressed') {
    return `${query ?? 'The nearest query'} would leave out a part of the question, so it is not answered.`
  }
  if (outcome === 'unsure') return `${query ?? 'A query'} may answer this${sure}. So it is not answered.`
  // Hints of the API for its callers are offered as fields here.
  if (outcome === 'missing_slots' && missing !== null) {
    const names = Object.keys(missing.properties).join(', ')
    return `${query ?? 'A query'} would answer this, but the question does not say ${names}.`
  }
  if (outcome !== 'answered') return message ?? `No deployed query answers this${sure}.`
  const values = sayValues(parameters)
  return (
    <>
      Answered by{' '}
      {query === null ? (
        'a query'
      ) : (
        <Link href={deployPath(place.project.id, `endpoints/${query}`, place.environment)}>{query}</Link>
      )}
      {values !== '' && ` with ${values}`}
      {sure}.
    </>
  )
}

type LeftOutProps = { result: QuestionResult; before?: string; after?: string }

/** The words that are left out; in an answer, its first line. */
export function LeftOut({ result: { unexpressed, routing }, before = '', after = '' }: LeftOutProps) {
  const unused = routing.unused.filter(
    ({ start }) => !unexpressed.some((each) => each.start <= start && start < each.end),
  )
  if (unexpressed.length === 0 && unused.length === 0) return null
  const words = [
    ...unexpressed.map(({ text, kind }) => `“${text}” (${kind.replace('_', ' ')})`),
    ...unused.map(({ text }) => `“${text}” (a value)`),
  ]
  return (
    <>
      <Text component="span" c="var(--sluice-danger)">
        {before}
        {words.join(', ')}
        {after}.
      </Text>{' '}
    </>
  )
}

function NextSteps({ place, result, question, before, requestId, onAsk }: Props) {
  const [typed, setTyped] = useState<Typed>({})
  const [reporting, setReporting] = useState(false)
  const { outcome, missing, query, routing } = result
  const choices = outcome === 'ambiguous' ? routing.candidates.slice(0, 3) : []
  const pinned = query === null ? {} : { query_name: query }
  return (
    <>
      {outcome === 'missing_slots' && missing !== null && (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            onAsk({ ...pinned, parameters: readValues(missing, typed) })
          }}
        >
          <Stack gap="sm" maw="22rem">
            <SlotsForm projectId={place.project.id} slots={missing} values={typed} errors={{}} onChange={setTyped} />
            <Button type="submit" style={{ alignSelf: 'flex-start' }}>
              Ask with {Object.keys(missing.properties).length === 1 ? 'this value' : 'these values'}
            </Button>
          </Stack>
        </form>
      )}
      <Group gap="xs" className={classes['steps'] ?? ''}>
        {(outcome === 'unexpressed' || outcome === 'unsure') && (
          <Button size="xs" onClick={() => onAsk({ partial: true })}>
            Answer without {result.unexpressed.length === 1 ? 'it' : 'them'}
          </Button>
        )}
        {choices.map(({ name }) => (
          <Button key={name} size="xs" variant="default" onClick={() => onAsk({ query_name: name })}>
            Ask {name}
          </Button>
        ))}
        {place.editor && (
          <Button size="xs" variant="default" onClick={() => setReporting(true)}>
            {outcome === 'answered' ? 'This answer is wrong' : 'It should be answered'}
          </Button>
        )}
      </Group>
      <WrongAnswer
        place={place}
        opened={reporting}
        onClose={() => setReporting(false)}
        question={question}
        result={result}
        follows={result.changed === null || before === null ? null : goesOn(question, result, before)}
        // The words of a follow-up alone are no reason to answer others like them differently.
        requestId={outcome === 'answered' && result.changed === null ? requestId : null}
      />
    </>
  )
}

function goesOn(question: string, result: QuestionResult, before: Before): Follows {
  return { question: before.question, whole: wholeQuestion(question, result, before.whole)?.text ?? null }
}

/** The question with the words behind each value marked, and those that the query leaves out. */
function marked(question: string, { sources, unexpressed }: Routing) {
  const found = Object.entries(sources).map(([slot, { start, end }]) => ({ says: slot, start, end, isLeftOut: false }))
  const leftOut = unexpressed.map(({ start, end }) => ({ says: 'cannot be applied', start, end, isLeftOut: true }))
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

function Values({ result: { parameters, routing, changed } }: { result: QuestionResult }) {
  const entries = Object.entries(parameters)
  if (entries.length === 0) return null
  const from = (slot: string): string => {
    const source = routing.sources[slot]
    if (source !== undefined) return `“${source.text}”`
    return changed === null ? 'not in the question' : 'the question before'
  }
  return (
    <PlainTable
      label="Values"
      head={['Slot', 'Value', 'From the words']}
      rows={entries.map(([slot, value]) => [
        <Code key={slot}>{slot}</Code>,
        value === null ? 'left out' : sayValue(value),
        from(slot),
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

/** Those that are given, as they stand in a sentence. */
export function sayValues(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined)
  return given.map(([slot, value]) => `${slot} = ${sayValue(value)}`).join(', ')
}

function sayValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function sayShare(share: number): string {
  return `${Math.round(share * 100)} %`
}
