import { Text } from '@mantine/core'
import { Link } from 'wouter'
import { deployPath, paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import { sayCount } from '../../../text/words.ts'
import { useMetrics } from '../../deploy/shared/usage-queries.ts'
import { useLineage } from '../shared/asked.ts'
import type { DescribedObject } from '../shared/wire.ts'

const dayHours = 24

/** The deployed queries that read a table, and how much each is called: whom a change of it meets. */
export function UsedBy({ project, object }: { project: Project; object: DescribedObject }) {
  const lineage = useLineage(project.id, object.id)
  const usage = useMetrics(project.id, { environment: null, interval: '1d' }, dayHours)
  const names = (lineage.data?.nodes ?? []).filter(({ kind }) => kind === 'query').map(({ label }) => label)
  const queries = [...new Set(names)].toSorted()
  if (lineage.data === undefined) return null
  if (queries.length === 0) {
    return (
      <Text c="dimmed" mb="md">
        No deployed query reads it.
      </Text>
    )
  }
  const callsOf = (query: string): number =>
    (usage.data?.by_version ?? []).reduce((sum, each) => sum + (each.query === query ? each.requests : 0), 0)
  return (
    <Text mb="md" component="p">
      Used by{' '}
      {queries.map((query, at) => (
        <span key={query}>
          {at > 0 && ', '}
          <Link href={paths.query(project.id, query)}>{query}</Link>{' '}
          <Text component="span" size="xs" c="dimmed" className="numbers">
            (
            <Link
              href={`${deployPath(project.id, 'requests')}?query=${query}`}
              aria-label={`${sayCount(callsOf(query), 'call')} of ${query}`}
            >
              {sayCount(callsOf(query), 'call')}
            </Link>{' '}
            in a day)
          </Text>
        </span>
      ))}
    </Text>
  )
}
