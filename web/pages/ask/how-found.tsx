import { Code, Mark, Stack, Text } from '@mantine/core'
import { PlainTable } from '../../parts/table/list.tsx'
import type { Routing } from '../deploy/shared/wire.ts'
import { sayShare } from '../deploy/shared/words.ts'
import { sayValue } from './question-words.ts'
import type { QuestionResult } from './question-result.ts'

/** The reasons of an answer or a refusal: the words that gave each value, and the queries that were compared. */
export function HowFound({ question, result }: { question: string; result: QuestionResult }) {
  const { routing, outcome, changed } = result
  return (
    <Stack gap="md">
      <Text aria-label="The question, with the words that gave values">{marked(question, routing)}</Text>
      {routing.read_as !== null && <Text>Read as “{routing.read_as}”.</Text>}
      {routing.threshold > 0 && (
        <Text>
          {outcome === 'answered' ? 'Answered' : 'Not answered'}: this project answers from{' '}
          {sayShare(routing.threshold)} on.
        </Text>
      )}
      <Values result={result} />
      {/* A follow-up was compared with nothing. */}
      {changed === null && <Candidates routing={routing} />}
    </Stack>
  )
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
