import { List, Text } from '@mantine/core'
import { PlainTable } from '../../../parts/table/list.tsx'
import { Verdict } from '../../../parts/text/verdict.tsx'
import { sayCount, sayNumber, sayValue } from '../../../text/words.ts'
import type { ModelComparison } from '../shared/wire.ts'

/** The rows that other SQL would give beside those that serve, by key and by column, and whom that meets. */
export function ModelChanges({ found }: { found: ModelComparison }) {
  const { added, removed, changed, equal, key, moves } = found
  const columns = [
    ...found.columns_added.map((name) => `Adds column ${name}`),
    ...found.columns_removed.map((name) => `Removes column ${name}`),
    ...found.columns_retyped.map(({ name, from, to }) => `Changes column ${name} from ${from} to ${to}`),
  ]
  const isSame = added + removed + changed + columns.length === 0
  const says = isSame
    ? `The same ${sayCount(equal, 'row')}.`
    : `${sayCount(added, 'row')} added, ${sayNumber(removed)} removed, ${sayNumber(changed)} changed, ${sayNumber(equal)} equal.`
  return (
    <section aria-label="Comparison">
      <Verdict says={says} mood={isSame ? 'good' : found.columns_removed.length > 0 ? 'bad' : 'caution'}>
        <Text size="xs" c="dimmed">
          {key.length === 0
            ? 'Nothing tells its rows apart: whole rows are compared.'
            : `Compared by ${key.join(', ')}.`}
        </Text>
        <List size="sm" mt={4}>
          {columns.map((each) => (
            <List.Item key={each}>{each}</List.Item>
          ))}
          {Object.entries(found.changed_by_column).map(([column, count]) => (
            <List.Item key={column}>
              {column} changes in {sayCount(count, 'row')}
            </List.Item>
          ))}
          {moves.models.length > 0 && <List.Item>Models that read it: {moves.models.join(', ')}</List.Item>}
          {moves.queries.length > 0 && <List.Item>Deployed queries that read it: {moves.queries.join(', ')}</List.Item>}
          {moves.questions.length > 0 && (
            <List.Item>They answer {sayCount(moves.questions.length, 'test question')}</List.Item>
          )}
          {moves.callers.length > 0 && (
            <List.Item>
              Called in the last 30 days by {moves.callers.map(({ name, key_id: id }) => name ?? id).join(', ')}
            </List.Item>
          )}
        </List>
        {found.examples.length > 0 && (
          <PlainTable
            label="Rows that differ"
            head={['Change', 'Serves now', 'Would serve']}
            rows={found.examples.map(({ change, before, after }) => [change, rowText(before), rowText(after)])}
          />
        )}
      </Verdict>
    </section>
  )
}

function rowText(row: Record<string, unknown> | null): string {
  if (row === null) return ''
  return Object.entries(row)
    .map(([name, value]) => `${name} ${value === null ? 'null' : sayValue(value)}`)
    .join(', ')
    .slice(0, 200)
}
