import { Button, Group, Menu, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Download, Search, X } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import type { auditChoices } from '../../../api/people.ts'
import { call } from '../../client/api.ts'
import { useAddress, type Address } from '../../parts/text/address.ts'
import { momentsOf, spanIn, type Span } from '../../parts/chart/spans.ts'
import { SpanPicker } from '../../parts/chart/time-span.tsx'
import type { Member, Project } from '../../client/wire.ts'

type Choices = z.output<typeof auditChoices>

/** The filters of the log, in the address; `search` is the same for the API. */
type AuditView = {
  actor: string | null
  action: string | null
  target: string | null
  span: Span | null
  search: string
  choose: Address['choose']
}

const names = ['actor', 'action', 'target'] as const

export function useAuditFilter(): AuditView {
  const { asked, choose } = useAddress()
  const [nowMs] = useState(() => Date.now())
  const span = spanIn(asked)
  const search = new URLSearchParams(span === null ? {} : momentsOf(span, nowMs))
  for (const name of names) if (asked.has(name)) search.set(name, asked.get(name) ?? '')
  const [actor = null, action = null, target = null] = names.map((name) => asked.get(name))
  return { actor, action, target, span, search: search.toString(), choose }
}

type Props = { project: Project; members: Member[]; view: AuditView }

/** The filters for actor, act, object and time; and the same as a file. */
export function AuditFilterBar({ project, members, view }: Props) {
  const { actor, action, target, span, search, choose } = view
  const choices = useQuery({
    queryKey: ['projects', project.id, 'audit-choices'],
    queryFn: ({ signal }) => call<Choices>('GET', `/v1/audit/choices?project_id=${project.id}`, { signal }),
  })
  const find = useDebouncedCallback((text: string) => choose({ target: text.trim() }), 300)
  const none = { actor: '', action: '', target: '', hours: '', from: '', to: '' }
  return (
    <Group gap="sm" mb="lg">
      <Select
        aria-label="Who"
        w={180}
        data={[{ value: '', label: 'Everyone' }, ...actorsOf(choices.data, members)]}
        value={actor ?? ''}
        onChange={(value) => choose({ actor: value ?? '' })}
        searchable
      />
      <Select
        aria-label="What"
        w={200}
        data={[{ value: '', label: 'Every act' }, ...actionsOf(choices.data)]}
        value={action ?? ''}
        onChange={(value) => choose({ action: value ?? '' })}
        searchable
      />
      <TextInput
        key={target ?? ''}
        aria-label="Done to"
        placeholder="Name or id"
        leftSection={<Search size={16} aria-hidden />}
        w={180}
        defaultValue={target ?? ''}
        onChange={(event) => find(event.currentTarget.value)}
      />
      <SpanPicker span={span} always="At any time" onChange={choose} />
      {search !== '' && (
        <Button variant="subtle" color="gray" leftSection={<X size={14} aria-hidden />} onClick={() => choose(none)}>
          All acts
        </Button>
      )}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default" leftSection={<Download size={16} aria-hidden />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['csv', 'ndjson'] as const).map((format) => (
            <Menu.Item
              key={format}
              component="a"
              href={`/v1/audit/export?project_id=${project.id}&format=${format}${search === '' ? '' : `&${search}`}`}
              download={`audit.${format}`}
            >
              {format === 'csv' ? 'As CSV' : 'As JSON lines'}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

const doers = { user: '', token: 'Token ', operator: 'The operator', system: 'Sluice' }

/** By name; the operator and the service itself have no id, and go by their kind. */
function actorsOf(choices: Choices | undefined, members: Member[]): Array<{ value: string; label: string }> {
  const found = new Map<string, string>()
  for (const { kind, id, label } of choices?.actors ?? []) {
    const name = members.find((member) => member.user_id === id)?.name ?? label
    found.set(id ?? kind, kind === 'user' || kind === 'token' ? `${doers[kind]}${name}` : doers[kind])
  }
  return [...found].map(([value, label]) => ({ value, label }))
}

/** All of a noun, and each of its acts. */
function actionsOf(
  choices: Choices | undefined,
): Array<{ group: string; items: Array<{ value: string; label: string }> }> {
  const byNoun = Map.groupBy(choices?.actions ?? [], (action) => action.split('.')[0] ?? action)
  return [...byNoun].map(([noun, actions]) => ({
    group: labelOf(noun),
    items: [
      { value: noun, label: `Everything of ${plainly(noun)}` },
      ...actions.map((action) => ({ value: action, label: labelOf(action) })),
    ],
  }))
}

/** `api_key.created` as people read it. */
function plainly(action: string): string {
  return action.replaceAll(/[._]/g, ' ').replace(/^api /, 'API ')
}

function labelOf(action: string): string {
  const words = plainly(action)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
