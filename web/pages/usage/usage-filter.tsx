import { Button, Group, Switch } from '@mantine/core'
import { X } from 'lucide-react'
import { useAddress } from '../../parts/text/address.ts'
import { EntrySelect, KeySelect, OutcomeSelect, QuerySelect, StatusSelect, VersionSelect } from './call-selects.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { spanIn, type Span } from '../../parts/chart/spans.ts'
import { SpanPicker } from '../../parts/chart/time-span.tsx'
import type { UsageFilter } from '../deploy/shared/usage-queries.ts'

const names = ['query', 'version', 'key', 'outcome', 'status', 'entry'] as const
type Chosen = Record<(typeof names)[number], string | null>

/** The filters, in the address. */
export type UsageView = {
  span: Span
  chosen: Chosen
  compare: boolean
  choose: (changes: Record<string, string>, keep?: boolean) => void
}

export function useUsageFilter(): UsageView {
  const { asked, choose } = useAddress()
  return {
    span: spanIn(asked) ?? { hours: 24 },
    chosen: Object.fromEntries(names.map((name) => [name, asked.get(name)])) as Chosen,
    compare: asked.get('compare') === 'before',
    choose,
  }
}

/** The filter as the API takes it. */
export function filterOf(environment: string | null, { chosen }: UsageView): UsageFilter {
  return { environment, ...chosen }
}

/** Only the time, where the rest is given by the page. */
export function SpanBar() {
  const { span, compare, choose } = useUsageFilter()
  return (
    <Group gap="sm" mb="lg">
      <SpanPicker span={span} onChange={choose} />
      <Compare compare={compare} choose={choose} />
    </Group>
  )
}

export function UsageFilterBar({ place }: { place: Place }) {
  const { span, chosen, compare, choose } = useUsageFilter()
  const isFiltered = Object.values(chosen).some((value) => value !== null)
  return (
    <Group gap="sm" mb="lg">
      <SpanPicker span={span} onChange={choose} />
      <QuerySelect place={place} value={chosen.query} onChange={(query) => choose({ query, version: '' })} />
      {chosen.query !== null && (
        <VersionSelect
          place={place}
          query={chosen.query}
          value={chosen.version}
          onChange={(version) => choose({ version })}
        />
      )}
      <KeySelect place={place} value={chosen.key} onChange={(key) => choose({ key })} />
      <OutcomeSelect value={chosen.outcome} onChange={(outcome) => choose({ outcome })} />
      <StatusSelect value={chosen.status} onChange={(status) => choose({ status })} />
      <EntrySelect value={chosen.entry} onChange={(entry) => choose({ entry })} />
      <Compare compare={compare} choose={choose} />
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

function Compare({ compare, choose }: Pick<UsageView, 'compare' | 'choose'>) {
  return (
    <Switch
      label="Compare"
      aria-label="Compare with the time before"
      checked={compare}
      onChange={(event) => choose({ compare: event.currentTarget.checked ? 'before' : '' })}
    />
  )
}
