import { List } from '@mantine/core'
import type { DeployReport } from './wire.ts'

const maxShown = 10

/** Questions that a change sends elsewhere, each with where it goes today and where it would go. */
export function MovedQuestions({ routing: { regressions } }: Pick<DeployReport, 'routing'>) {
  if (regressions.length === 0) return null
  const rest = regressions.length - maxShown
  return (
    <List spacing={2} mt={4}>
      {regressions.slice(0, maxShown).map(({ question, query, taken_by: takenBy }) => (
        <List.Item key={question}>
          “{question}” {query === null ? 'is refused today' : `goes to ${query} today`} and{' '}
          {takenBy === null ? 'would be refused' : `would go to ${takenBy}`}
        </List.Item>
      ))}
      {rest > 0 && <List.Item>and {rest} more</List.Item>}
    </List>
  )
}
