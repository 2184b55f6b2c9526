import { Code, Group, Stack, Text } from '@mantine/core'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Verdict } from '../../../parts/text/verdict.tsx'
import type { TriedQuestion } from '../../build/shared/wire.ts'
import { sayValue } from '../../../text/words.ts'

type Props = { name: string; tried: TriedQuestion | undefined; error: Error | null }

/** How a question would be routed if the saved draft were deployed. */
export function Tried({ name, tried, error }: Props) {
  if (error !== null) return <RefusalNotice error={error} />
  if (tried === undefined) return null
  const found = Object.entries(tried.parameters)
  const leftOut = wordsLeftOut(tried)
  return (
    <Verdict says={sayOutcome(name, tried)} mood={isAnsweredWhole(name, tried) ? 'good' : 'caution'}>
      {found.length > 0 && (
        <Group gap={6} mt={4}>
          {found.map(([slot, value]) => (
            <Code key={slot}>
              {slot} = {sayValue(value)}
            </Code>
          ))}
        </Group>
      )}
      {leftOut.length > 0 && (
        <Text size="sm" mt={4}>
          {leftOut.map((text) => `“${text}”`).join(', ')} cannot be applied here.
        </Text>
      )}
      {tried.candidates.length > 0 && (
        <Stack gap={2} mt="xs">
          {tried.candidates.slice(0, 3).map((candidate) => (
            <Text key={candidate.name} size="xs" c="dimmed">
              Nearest in {candidate.name}: “{candidate.example}”
            </Text>
          ))}
        </Stack>
      )}
    </Verdict>
  )
}

function isAnsweredWhole(name: string, tried: TriedQuestion): boolean {
  return tried.outcome === 'answered' && tried.query_used === name && wordsLeftOut(tried).length === 0
}

/** Words that the query does not express, and values of the question that fill no slot. */
function wordsLeftOut({ unexpressed, routing }: TriedQuestion): string[] {
  const unused = (routing?.unused ?? []).filter(
    ({ start }) => !unexpressed.some((each) => each.start <= start && start < each.end),
  )
  return [...unexpressed, ...unused].map(({ text }) => text)
}

function sayOutcome(name: string, { outcome, query_used: used, message, routing }: TriedQuestion): string {
  if (outcome === 'no_match') return `${message ?? 'No query answers this.'} Add it as an example to change that.`
  if (outcome === 'unexpressed') return message ?? `${used ?? 'The nearest query'} leaves out a part of the question.`
  if (outcome === 'period_end') return message ?? `${used ?? 'A query'} would lose a part of the period.`
  if (outcome === 'unsure') return message ?? `${used ?? 'A query'} may answer this, but not surely enough.`
  if (outcome === 'ambiguous') return 'Several queries could answer this.'
  const which = used === name ? 'This query' : (used ?? 'Another query')
  return outcome === 'missing_slots'
    ? (message ?? `${which} would answer, but needs more.`)
    : `${which} answers${sure(routing?.confidence)}.${sayPeriod(routing)}`
}

function sayPeriod(routing: TriedQuestion['routing']): string {
  const { period = null } = routing ?? {}
  return period === null ? '' : ` Period: ${period.text}.`
}

function sure(confidence: number | null | undefined): string {
  return typeof confidence === 'number' ? `, with a confidence of ${Math.round(confidence * 100)} %` : ''
}
