import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import classes from './alerts.module.css'
import type { Alert, NewAlert } from './usage-wire.ts'

type Kind = 'webhook' | 'slack' | 'email'

/** One that is there keeps its address, which is not shown whole; another is typed. */
export type ChannelLine =
  | { id: string; type: Kind; target: string }
  | { id: null; line: number; type: Kind; target: string }

const kinds = [
  { value: 'webhook', label: 'Webhook' },
  { value: 'slack', label: 'Slack' },
  { value: 'email', label: 'E-mail' },
]

export const newLine = (line: number): ChannelLine => ({ id: null, line, type: 'webhook', target: '' })

export function linesOf({ channels }: Pick<Alert, 'channels'>): ChannelLine[] {
  return channels.map(({ id, type, target }) => ({ id, type, target }))
}

export function newChannelsOf(lines: ChannelLine[]): NonNullable<NewAlert['channels']> {
  return lines.filter((line) => line.id === null).map(newChannelOf)
}

export function channelsOf(lines: ChannelLine[]) {
  return lines.map((line) => (line.id === null ? newChannelOf(line) : { id: line.id }))
}

function newChannelOf({ type, target }: ChannelLine) {
  const to = target.trim()
  return type === 'email' ? { type, to: addressesOf(to) } : { type, url: to }
}

function addressesOf(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

type Props = { lines: ChannelLine[]; onChange: (lines: ChannelLine[]) => void; error: React.ReactNode }

const maxChannels = 10

/** Whom it tells, and how. */
export function AlertChannels({ lines, onChange, error }: Props) {
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
                data={kinds}
                value={line.type}
                onChange={(type) => change(at, { type: kindNamed(type) })}
              />
              <TextInput
                aria-label={`Address of channel ${at + 1}`}
                placeholder={line.type === 'email' ? 'team@example.org' : 'https://…'}
                autoComplete="off"
                spellCheck={false}
                value={line.target}
                onChange={(event) => change(at, { target: event.currentTarget.value })}
              />
            </>
          ) : (
            <Text className={classes['kept'] ?? ''}>
              {kinds.find(({ value }) => value === line.type)?.label} {line.target}
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

function kindNamed(value: string | null): Kind {
  return value === 'slack' || value === 'email' ? value : 'webhook'
}
