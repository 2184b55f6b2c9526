import { Select } from '@mantine/core'
import type { Place } from '../deploy/shared/place.ts'
import { useDeployments } from '../deploy/shared/queries.ts'
import { useMetrics } from '../deploy/shared/usage-queries.ts'

/** Fields to choose calls by, the same wherever calls are looked at. Nothing chosen is an empty text. */
type Props = { value: string | null; onChange: (value: string) => void }

export function QuerySelect({ place, value, onChange }: Props & { place: Place }) {
  const deployments = useDeployments(place.project.id)
  const names = new Set((deployments.data ?? []).map(({ name }) => name))
  if (value !== null) names.add(value)
  return (
    <Select
      aria-label="Query"
      w={190}
      data={[{ value: '', label: 'Every query' }, ...[...names].toSorted()]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable={names.size > 8}
    />
  )
}

/** The versions of a query that were called within a month. */
export function VersionSelect({ place, query, value, onChange }: Props & { place: Place; query: string }) {
  const usage = useMetrics(place.project.id, { environment: place.environment, query, interval: '1d' }, { hours: 720 })
  const versions = new Set((usage.data?.by_version ?? []).map(({ version }) => String(version)))
  if (value !== null) versions.add(value)
  return (
    <Select
      aria-label="Version"
      w={150}
      data={[
        { value: '', label: 'Every version' },
        ...[...versions].map((version) => ({ value: version, label: `Version ${version}` })),
      ]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}

/** The keys that called within a week, whatever else is chosen, with their names. */
export function useKeyNames({ project, environment }: Place): Map<string, string> {
  const usage = useMetrics(project.id, { environment, interval: '1d' }, { hours: 168 })
  return new Map((usage.data?.by_key ?? []).map(({ key_id: id, name }) => [id, name ?? id]))
}

export function KeySelect({ place, value, onChange }: Props & { place: Place }) {
  const keys = [...useKeyNames(place)].map(([id, label]) => ({ value: id, label }))
  if (value !== null && !keys.some((key) => key.value === value)) keys.push({ value, label: value })
  return (
    <Select
      aria-label="Key"
      w={170}
      data={[{ value: '', label: 'Every key' }, ...keys]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable={keys.length > 8}
    />
  )
}

export function OutcomeSelect({ value, onChange }: Props) {
  return (
    <Select
      aria-label="Result"
      w={150}
      data={[
        { value: '', label: 'All results' },
        { value: 'answered', label: 'Answered' },
        { value: 'failed', label: 'Failed' },
      ]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}

const statuses = ['200', '400', '401', '403', '404', '422', '429', '499', '500', '503', '504']

export function StatusSelect({ value, onChange }: Props) {
  return (
    <Select
      aria-label="Status"
      w={130}
      data={[{ value: '', label: 'All statuses' }, ...statuses]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}

const entries = [
  { value: '', label: 'All call types' },
  { value: 'direct', label: 'By name' },
  { value: 'question', label: 'By question' },
  { value: 'tool', label: 'By a tool (MCP)' },
]

export function EntrySelect({ value, onChange, withPreviews = false }: Props & { withPreviews?: boolean }) {
  return (
    <Select
      aria-label="Call type"
      w={150}
      data={withPreviews ? [...entries, { value: 'preview', label: 'Previews' }] : entries}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}
