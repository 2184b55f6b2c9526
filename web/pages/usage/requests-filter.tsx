import { Button, Group } from '@mantine/core'
import { X } from 'lucide-react'
import { useAddress } from '../../parts/text/address.ts'
import { EntrySelect, KeySelect, OutcomeSelect, QuerySelect, StatusSelect, VersionSelect } from './call-selects.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { momentsOf, spanIn, type Span } from '../../parts/chart/spans.ts'
import { SpanPicker } from '../../parts/chart/time-span.tsx'

/** The filters of the log. All of them are in the address, so that a link shows what its sender saw. */
export type RequestsFilter = Record<(typeof names)[number], string | null> & { span: Span | null }

const names = ['query', 'version', 'key', 'entry', 'outcome', 'status', 'error'] as const

type Chosen = { filter: RequestsFilter; request: string | null; choose: (changes: Record<string, string>) => void }

export function useRequestsFilter(): Chosen {
  const { asked, choose } = useAddress()
  const chosen = Object.fromEntries(names.map((name) => [name, asked.get(name)])) as Omit<RequestsFilter, 'span'>
  return { filter: { ...chosen, span: spanIn(asked) }, request: asked.get('request'), choose }
}

/** The same for the API. */
export function searchOf(environment: string, { key, span, ...rest }: RequestsFilter, nowMs: number): string {
  const asked = new URLSearchParams({ environment, ...(span !== null && momentsOf(span, nowMs)) })
  for (const [name, value] of Object.entries(rest)) if (value !== null) asked.set(name, value)
  if (key !== null) asked.set('key_id', key)
  return asked.toString()
}

export function RequestsFilterBar({ place }: { place: Place }) {
  const { filter, choose } = useRequestsFilter()
  const isFiltered = Object.values(filter).some((value) => value !== null)
  const none = Object.fromEntries([...names, 'hours', 'from', 'to'].map((name) => [name, '']))
  return (
    <Group gap="sm" mb="lg">
      <QuerySelect place={place} value={filter.query} onChange={(query) => choose({ query, version: '' })} />
      {filter.query !== null && (
        <VersionSelect
          place={place}
          query={filter.query}
          value={filter.version}
          onChange={(version) => choose({ version })}
        />
      )}
      <KeySelect place={place} value={filter.key} onChange={(key) => choose({ key })} />
      <OutcomeSelect value={filter.outcome} onChange={(outcome) => choose({ outcome })} />
      <StatusSelect value={filter.status} onChange={(status) => choose({ status })} />
      <EntrySelect value={filter.entry} onChange={(entry) => choose({ entry })} withPreviews />
      <SpanPicker span={filter.span} always="At any time" onChange={choose} />
      {isFiltered && (
        <Button variant="subtle" color="gray" leftSection={<X size={14} aria-hidden />} onClick={() => choose(none)}>
          All calls
        </Button>
      )}
    </Group>
  )
}
