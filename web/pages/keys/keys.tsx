import { Badge, Button, Group, Text, TextInput } from '@mantine/core'
import { KeyRound, Plus, Search } from 'lucide-react'
import { useState } from 'react'
import { useSearch } from 'wouter'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { List, NameCell, type Column } from '../../parts/table/list.tsx'
import { TagChoice } from '../../parts/form/tag-choice.tsx'
import { Ago, Day } from '../../parts/text/time.tsx'
import { useApiKeys } from '../../client/things.ts'
import { sayCount, sayNumber } from '../../text/words.ts'
import { useAddress } from '../../parts/text/address.ts'
import { KeyActs } from './key-acts.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { reaches, sayReach } from './reaches.ts'
import { useMetrics } from '../deploy/shared/usage-queries.ts'
import type { Metrics } from '../deploy/shared/usage-wire.ts'
import type { ApiKey } from '../deploy/shared/wire.ts'

const rank: Record<ApiKey['status'], number> = { active: 0, disabled: 1, expired: 2, revoked: 3 }

/** The keys that reach this project. */
export function KeysPage({ place }: { place: Place }) {
  const { project } = place
  const owner = project.role === 'owner'
  const keys = useApiKeys(owner)
  const [creating, setCreating] = useState(new URLSearchParams(useSearch()).has('new'))
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New API key
    </Button>
  )
  const usage = useMetrics(project.id, { environment: null, interval: '1d' }, { hours: 168 }, owner)
  const { asked } = useAddress()
  const sought = asked.get('find') ?? ''
  const tag = asked.get('tag')
  const here = (keys.data ?? [])
    .filter((key) => reaches(key, { projectId: project.id }))
    .toSorted((a, b) => rank[a.status] - rank[b.status] || a.name.localeCompare(b.name))
  const words = sought.trim().toLowerCase()
  const found = here.filter(
    ({ name, start, last4, tags }) =>
      `${name} ${start} ${last4} ${tags.join(' ')}`.toLowerCase().includes(words) &&
      (tag === null || tags.includes(tag)),
  )
  const tags = [...new Set(here.flatMap((key) => key.tags))].toSorted((a, b) => a.localeCompare(b))
  return (
    <>
      <Heading title="API keys" within={project.name} action={owner && here.length > 0 ? button : undefined}>
        {owner
          ? 'Each application that calls has a key of its own, which reaches what you give it and nothing else.'
          : 'Owners make and revoke the keys with which applications call what is deployed here.'}
      </Heading>
      {owner ? (
        <Loaded query={keys}>
          {() =>
            here.length === 0 ? (
              <Empty icon={<KeyRound size={20} />} action={button} guide="keys-and-limits">
                A key lets an application call what is deployed in this project. None does so far.
              </Empty>
            ) : (
              <>
                <KeyFilter tags={tags} />
                {found.length === 0 && <Text c="dimmed">No key is called or tagged like that.</Text>}
                {found.length > 0 && (
                  <List
                    label="API keys"
                    items={found}
                    what="keys"
                    keyOf={({ id }) => id}
                    columns={columnsOf(place, usage.data?.by_key ?? [])}
                    opens
                  />
                )}
              </>
            )
          }
        </Loaded>
      ) : (
        <Empty icon={<KeyRound size={20} />}>You are not an owner of this project. Ask one of them for a key.</Empty>
      )}
      <NewKeyDialog project={project} opened={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function KeyFilter({ tags }: { tags: string[] }) {
  const { asked, choose } = useAddress()
  const tag = asked.get('tag')
  const sought = asked.get('find') ?? ''
  return (
    <Group gap="sm" mb="md">
      <TextInput
        aria-label="Find a key"
        placeholder="Find a key by name, tag, or the beginning or end of its secret"
        leftSection={<Search size={16} aria-hidden />}
        flex="1 1 16rem"
        maw="28rem"
        value={sought}
        onChange={(event) => choose({ find: event.currentTarget.value })}
      />
      {tags.length > 0 && <TagChoice tags={tags} tag={tag} onChange={(value) => choose({ tag: value })} />}
    </Group>
  )
}

function columnsOf(place: Place, usage: Metrics['by_key']): Array<Column<ApiKey>> {
  return [
    {
      label: 'Key',
      whole: true,
      cell: (key) => (
        <NameCell
          href={place.to(`keys/${key.id}`)}
          name={key.name}
          marks={<Tags tags={key.tags} />}
          about={sayReach(key, place.project.id)}
        />
      ),
    },
    { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    { label: 'Secret', cell: (key) => <KeyStart apiKey={key} /> },
    {
      label: 'Used',
      cell: ({ last_used_at: at }) => (at === null ? <span>never</span> : <Ago at={at} />),
    },
    {
      label: 'In a week',
      cell: ({ id }) => {
        const found = usage.find(({ key_id: each }) => each === id)
        return found === undefined ? null : sayUsage(found)
      },
    },
    { label: 'Expires', cell: ({ expires_at: at }) => (at === null ? null : <Day at={at} />) },
    { label: '', name: 'acts', cell: (key) => <KeyActs apiKey={key} /> },
  ]
}

export function Tags({ tags }: Pick<ApiKey, 'tags'>) {
  return tags.map((tag) => (
    <Badge key={tag} variant="default" tt="none" radius="sm" fw={500}>
      {tag}
    </Badge>
  ))
}

function sayUsage({ requests, rejected }: Metrics['by_key'][number]): string {
  const away = rejected === 0 ? '' : `, ${sayNumber(rejected)} rejected`
  return `${sayCount(requests, 'call')}${away}`
}

export function KeyStart({ apiKey: { start, last4 } }: { apiKey: ApiKey }) {
  return (
    <Text component="span" ff="monospace" size="xs">
      {start}…{last4}
    </Text>
  )
}

const statuses: Record<ApiKey['status'], { label: string; color: string }> = {
  active: { label: 'Active', color: 'green' },
  disabled: { label: 'Disabled', color: 'yellow' },
  expired: { label: 'Expired', color: 'gray' },
  revoked: { label: 'Revoked', color: 'gray' },
}

export function StatusBadge({ status }: { status: ApiKey['status'] }) {
  const { label, color } = statuses[status]
  return (
    <Badge variant="light" color={color} tt="none" radius="sm" c="var(--mantine-color-text)">
      {label}
    </Badge>
  )
}
