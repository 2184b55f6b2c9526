import { Button, Group, Select } from '@mantine/core'
import { X } from 'lucide-react'
import { useLocation, useSearch } from 'wouter'
import type { Place } from './place.ts'
import { useDeployments } from './queries.ts'
import { useMetrics } from './usage-queries.ts'

/** What of the log is looked at. All of it is in the address, so that a link shows what its sender saw. */
export type RequestsFilter = {
  query: string | null
  key: string | null
  entry: string | null
  outcome: string | null
  status: string | null
  error: string | null
  hours: string | null
}

const names = ['query', 'key', 'entry', 'outcome', 'status', 'error', 'hours'] as const

type Chosen = { filter: RequestsFilter; request: string | null; choose: (changes: Record<string, string>) => void }

export function useRequestsFilter(): Chosen {
  const [path, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  const filter = Object.fromEntries(names.map((name) => [name, asked.get(name)])) as RequestsFilter
  return {
    filter,
    request: asked.get('request'),
    choose: (changes) => {
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') asked.delete(name)
        else asked.set(name, value)
      }
      navigate(asked.size === 0 ? path : `${path}?${asked}`, { replace: true })
    },
  }
}

/** The same for the API. A time that goes on with the clock is rounded, or every look would be another question. */
export function searchOf(environment: string, { key, hours, ...rest }: RequestsFilter, nowMs: number): string {
  const asked = new URLSearchParams({ environment })
  for (const [name, value] of Object.entries(rest)) if (value !== null) asked.set(name, value)
  if (key !== null) asked.set('key_id', key)
  const from = hours === null ? NaN : nowMs - Number(hours) * 3_600_000
  if (!Number.isNaN(from)) asked.set('from', new Date(Math.floor(from / 60_000) * 60_000).toISOString())
  return asked.toString()
}

const outcomes = [
  { value: '', label: 'Every outcome' },
  { value: 'answered', label: 'Answered' },
  { value: 'failed', label: 'Failed' },
]
const entries = [
  { value: '', label: 'However called' },
  { value: 'direct', label: 'By name' },
  { value: 'question', label: 'By question' },
  { value: 'tool', label: 'By a tool' },
  { value: 'preview', label: 'Previews' },
]
const ranges = [
  { value: '', label: 'At any time' },
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last day' },
  { value: '168', label: 'The last week' },
]
const statuses = ['400', '401', '403', '404', '422', '429', '499', '500', '503', '504']

export function RequestsFilterBar({ place }: { place: Place }) {
  const { filter, choose } = useRequestsFilter()
  const deployments = useDeployments(place.project.id)
  const usage = useMetrics(place.project.id, { environment: place.environment, query: null }, 168)
  const queries = new Set((deployments.data ?? []).map(({ name }) => name))
  if (filter.query !== null) queries.add(filter.query)
  const keys = (usage.data?.by_key ?? []).map(({ key_id: id, name }) => ({ value: id, label: name ?? id }))
  if (filter.key !== null && !keys.some(({ value }) => value === filter.key)) {
    keys.push({ value: filter.key, label: filter.key })
  }
  const isFiltered = Object.values(filter).some((value) => value !== null)
  return (
    <Group gap="sm" mb="lg">
      <Select
        aria-label="Query"
        w={190}
        data={[{ value: '', label: 'Every query' }, ...[...queries].toSorted()]}
        value={filter.query ?? ''}
        onChange={(value) => choose({ query: value ?? '' })}
        searchable={queries.size > 8}
      />
      <Select
        aria-label="Key"
        w={180}
        data={[{ value: '', label: 'Every key' }, ...keys]}
        value={filter.key ?? ''}
        onChange={(value) => choose({ key: value ?? '' })}
        searchable={keys.length > 8}
      />
      <Select
        aria-label="Outcome"
        w={150}
        data={outcomes}
        value={filter.outcome ?? ''}
        onChange={(value) => choose({ outcome: value ?? '' })}
      />
      <Select
        aria-label="Status"
        w={130}
        data={[{ value: '', label: 'Every status' }, '200', ...statuses]}
        value={filter.status ?? ''}
        onChange={(value) => choose({ status: value ?? '' })}
      />
      <Select
        aria-label="Entry"
        w={150}
        data={entries}
        value={filter.entry ?? ''}
        onChange={(value) => choose({ entry: value ?? '' })}
      />
      <Select
        aria-label="Time"
        w={150}
        data={ranges}
        value={filter.hours ?? ''}
        onChange={(value) => choose({ hours: value ?? '' })}
      />
      {isFiltered && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<X size={14} aria-hidden />}
          onClick={() => choose(Object.fromEntries(names.map((name) => [name, ''])))}
        >
          All calls
        </Button>
      )}
    </Group>
  )
}
