import { Group, Select } from '@mantine/core'
import { useLocation, useSearch } from 'wouter'
import type { Place } from './place.ts'
import { useDeployments } from './queries.ts'

const ranges = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last day' },
  { value: '168', label: 'The last week' },
  { value: '720', label: 'The last 30 days' },
]

/** What is looked at, in the address. */
export function useUsageFilter(): {
  hours: number
  query: string | null
  choose: (name: string, value: string) => void
} {
  const [path, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  const hours = ranges.find(({ value }) => value === asked.get('hours'))?.value ?? '24'
  return {
    hours: Number(hours),
    query: asked.get('query'),
    choose: (name, value) => {
      if (value === '') asked.delete(name)
      else asked.set(name, value)
      navigate(asked.size === 0 ? path : `${path}?${asked}`, { replace: true })
    },
  }
}

export function UsageFilterBar({
  place,
  withRange = false,
  withQuery = true,
}: {
  place: Place
  withRange?: boolean
  withQuery?: boolean
}) {
  const { hours, query, choose } = useUsageFilter()
  const deployments = useDeployments(place.project.id)
  const names = new Set((deployments.data ?? []).map(({ name }) => name))
  if (query !== null) names.add(query)
  return (
    <Group gap="sm" mb="lg" wrap="nowrap">
      {withRange && (
        <Select
          aria-label="Time"
          flex="0 1 170px"
          data={ranges}
          value={String(hours)}
          onChange={(value) => choose('hours', value ?? '24')}
        />
      )}
      {withQuery && (
        <Select
          aria-label="Query"
          flex="0 1 210px"
          data={[{ value: '', label: 'Every query' }, ...[...names].toSorted()]}
          value={query ?? ''}
          onChange={(value) => choose('query', value ?? '')}
          searchable={names.size > 8}
        />
      )}
    </Group>
  )
}
