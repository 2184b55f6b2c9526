import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import classes from './alerts.module.css'
import type { Place } from '../../deploy/shared/place.ts'
import { useSharedChannels } from './shared-channel-queries.ts'
import type { Alert, NewAlert } from '../../deploy/shared/usage-wire.ts'

export type ChannelKind = 'webhook' | 'slack' | 'email'

/** One that is there keeps its address, which is not shown whole; another is typed. */
export type ChannelLine =
  | { id: string; type: ChannelKind; target: string; shared: string | null }
  | { id: null; line: number; type: ChannelKind; target: string }
  /** A channel of the project, by its id. */
  | { id: null; line: number; type: 'shared'; target: string }

export const channelKinds = [
  { value: 'webhook', label: 'Webhook' },
  { value: 'slack', label: 'Slack' },
  { value: 'email', label: 'E-mail' },
]

export function sayKind(kind: ChannelKind): string {
  return channelKinds.find(({ value }) => value === kind)?.label ?? kind
}

export const newLine = (line: number): ChannelLine => ({ id: null, line, type: 'webhook', target: '' })

export function linesOf({ channels }: Pick<Alert, 'channels'>): ChannelLine[] {
  return channels.map(({ id, type, target, shared }) => ({ id, type, target, shared: shared?.name ?? null }))
}

export function newChannelsOf(lines: ChannelLine[]): NonNullable<NewAlert['channels']> {
  return lines.filter((line) => line.id === null).map(newLineOf)
}

export function channelsOf(lines: ChannelLine[]) {
  return lines.map((line) => (line.id === null ? newLineOf(line) : { id: line.id }))
}

function newLineOf({ type, target }: Extract<ChannelLine, { id: null }>) {
  return type === 'shared' ? { type, id: target } : newChannelOf({ type, target })
}

export function newChannelOf({ type, target }: { type: ChannelKind; target: string }) {
  const to = target.trim()
  return type === 'email' ? { type, to: addressesOf(to) } : { type, url: to }
}

function addressesOf(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

type Props = { place: Place; lines: ChannelLine[]; onChange: (lines: ChannelLine[]) => void; error: React.ReactNode }

const maxChannels = 10

/** Whom it tells, and how. */
export function AlertChannels({ place, lines, onChange, error }: Props) {
  const channels = useSharedChannels(place.project.id)
  const shared = (channels.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const choices = [
    ...(shared.length === 0 ? [] : [{ group: 'Of the project', items: shared }]),
    { group: 'Only for this alert', items: channelKinds },
  ]
  const change = (at: number, part: Partial<ChannelLine>): void =>
    onChange(lines.map((line, index) => (index === at ? ({ ...line, ...part } as ChannelLine) : line)))
  const remove = (at: number): void => onChange(lines.filter((_, index) => index !== at))
  const nextLine = Math.max(0, ...lines.map((line) => (line.id === null ? line.line : 0))) + 1
  return (
    <Stack gap="xs">
      <Text fw={600}>Tell</Text>
      {lines.map((line, at) => (
        <div key={line.id ?? line.line} className={classes['channel']}>
          {line.id === null ? (
            <>
              <Select
                aria-label={`Channel ${at + 1}`}
                data={choices}
                value={line.type === 'shared' ? line.target : line.type}
                onChange={(chosen) =>
                  change(
                    at,
                    shared.some(({ value }) => value === chosen)
                      ? { type: 'shared', target: chosen ?? '' }
                      : { type: kindNamed(chosen), ...(line.type === 'shared' && { target: '' }) },
                  )
                }
              />
              <AddressOf line={line} at={at} shared={channels.data} onChange={(target) => change(at, { target })} />
            </>
          ) : (
            <Text className={classes['kept'] ?? ''}>
              {line.shared ?? sayKind(line.type)} {line.target}
            </Text>
          )}
          <ActionIcon variant="subtle" color="gray" aria-label={`Remove channel ${at + 1}`} onClick={() => remove(at)}>
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      {error !== undefined && error !== null && (
        <Text c="var(--mantine-color-error)" size="xs" role="alert">
          {error}
        </Text>
      )}
      {lines.length < maxChannels && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => onChange([...lines, newLine(nextLine)])}
          >
            Add a channel
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type AddressProps = {
  line: Extract<ChannelLine, { id: null }>
  at: number
  shared: ReturnType<typeof useSharedChannels>['data']
  onChange: (target: string) => void
}

/** The address of a channel of the project, or the one that is typed. */
function AddressOf({ line, at, shared, onChange }: AddressProps) {
  if (line.type === 'shared') {
    return (
      <Text size="sm" c="dimmed">
        {shared?.find(({ id }) => id === line.target)?.target}
      </Text>
    )
  }
  return (
    <TextInput
      aria-label={`Address of channel ${at + 1}`}
      placeholder={line.type === 'email' ? 'team@example.org' : 'https://…'}
      value={line.target}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

export function kindNamed(value: string | null): ChannelKind {
  return value === 'slack' || value === 'email' ? value : 'webhook'
}
