import { List } from '@mantine/core'
import type { DeployReport } from './wire.ts'

const maxShown = 10

type Props = Pick<DeployReport, 'routing'> & { isAhead?: boolean }

/** Questions that a change sends elsewhere, each with where it went before. */
export function MovedQuestions({ routing: { regressions }, isAhead = true }: Props) {
  if (regressions.length === 0) return null
  const rest = regressions.length - maxShown
  return (
    <List spacing={2} mt={4}>
      {regressions.slice(0, maxShown).map(({ question, query, taken_by: takenBy }) => (
        <List.Item key={question}>
          “{question}” {isAhead ? sayMove(query, takenBy) : sayMoved(query, takenBy)}
        </List.Item>
      ))}
      {rest > 0 && <List.Item>and {rest} more</List.Item>}
    </List>
  )
}

function sayMove(from: string | null, to: string | null): string {
  const now = from === null ? 'is refused today' : `goes to ${from} today`
  return `${now} and ${to === null ? 'would be refused' : `would go to ${to}`}`
}

function sayMoved(from: string | null, to: string | null): string {
  const before = from === null ? 'was refused' : `went to ${from}`
  return `${before} and ${to === null ? 'was refused from then on' : `went to ${to} from then on`}`
}
