import { Button, Code, Group, NumberInput, Paper, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { Plus } from 'lucide-react'
import { schedulePresets } from '../../../../text/words.ts'
import { paginations } from './paginations.ts'
import { newPair, type Draft, type ParameterGroup } from './draft.ts'
import { newId } from './lines.ts'
import { Pairs } from './pairs.tsx'

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }

/** At most one of them is sent. */
export function GroupFields({ draft: { groups }, onChange, disabled }: Props) {
  const change = (id: number, part: Partial<ParameterGroup>): void =>
    onChange({ groups: groups.map((group) => (group.id === id ? { ...group, ...part } : group)) })
  const activate = (id: number, active: boolean): void =>
    onChange({ groups: groups.map((group) => ({ ...group, active: group.id === id && active })) })
  return (
    <Stack gap="sm" mt={groups.length > 0 ? 'sm' : 0}>
      {groups.length > 0 && (
        <Text size="xs" c="dimmed">
          Parameters of a group go together. One group is sent at a time.
        </Text>
      )}
      {groups.map((group, index) => (
        <Paper key={group.id} p="sm" radius="md" bd="1px solid var(--sluice-line)" bg="transparent">
          <Group justify="space-between" mb="xs">
            <TextInput
              aria-label={`Name of group ${index + 1}`}
              placeholder="name of the group"
              size="xs"
              value={group.name}
              disabled={disabled}
              onChange={(event) => change(group.id, { name: event.currentTarget.value })}
            />
            <Group gap="sm">
              <Switch
                size="xs"
                label="Send this one"
                checked={group.active}
                disabled={disabled}
                onChange={(event) => activate(group.id, event.currentTarget.checked)}
              />
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                disabled={disabled}
                aria-label={`Remove group ${index + 1}`}
                onClick={() => onChange({ groups: groups.filter(({ id }) => id !== group.id) })}
              >
                Remove
              </Button>
            </Group>
          </Group>
          <Pairs
            what="group parameter"
            pairs={group.parameters}
            withRequired
            disabled={disabled}
            onChange={(parameters) => change(group.id, { parameters })}
          />
        </Paper>
      ))}
      {!disabled && (
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() =>
            onChange({ groups: [...groups, { id: newId(), name: '', active: false, parameters: [newPair()] }] })
          }
          style={{ alignSelf: 'flex-start' }}
        >
          Add a group
        </Button>
      )}
    </Stack>
  )
}

const pageLabels: Record<string, string> = {
  path: 'Where it stands in the response',
  parameter: 'Name of the parameter',
  limit_parameter: 'Name of the limit',
  limit: 'Rows of a page',
  first: 'First page',
  max_pages: 'Pages at most',
  in: 'Where the parameter goes (query or body)',
  from: 'Where the cursor is found (body or last_row)',
  has_more_path: 'Where the response says that there is more',
  stop_when: 'Last page (empty or short)',
}

export function PaginationFields({ draft: { pagination }, onChange, disabled }: Props) {
  const set = (name: string, value: string | number): void => {
    if (pagination !== null) onChange({ pagination: { ...pagination, [name]: value } })
  }
  return (
    <Stack gap="sm" maw="26rem">
      <Select
        label="Further pages"
        data={paginations.map(({ value, label }) => ({ value, label }))}
        value={pagination?.type ?? 'none'}
        disabled={disabled}
        onChange={(type) => onChange({ pagination: paginations.find(({ value }) => value === type)?.first ?? null })}
      />
      {Object.entries(pagination ?? {})
        .filter(([name]) => name !== 'type')
        .map(([name, value]) =>
          typeof value === 'number' ? (
            <NumberInput
              key={name}
              label={pageLabels[name]}
              value={value}
              min={0}
              allowDecimal={false}
              disabled={disabled}
              onChange={(next) => set(name, Number(next))}
            />
          ) : (
            <TextInput
              key={name}
              label={pageLabels[name]}
              value={value}
              disabled={disabled}
              onChange={(event) => set(name, event.currentTarget.value)}
            />
          ),
        )}
      {pagination !== null && (
        <Text size="xs" c="dimmed">
          Test looks at the first page. Fetching the data takes them all into one table.
        </Text>
      )}
    </Stack>
  )
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
const choices = [{ value: '', label: 'Only by hand' }, ...schedulePresets, { value: 'own', label: 'A cron expression' }]

export function ScheduleFields({ draft, onChange, disabled }: Props) {
  const known = choices.some(({ value }) => value === draft.schedule)
  return (
    <Stack gap="sm" maw="26rem">
      <Select
        label="Fetch again"
        data={choices}
        value={known ? draft.schedule : 'own'}
        disabled={disabled}
        onChange={(value) => onChange({ schedule: value === 'own' ? '30 7 * * 1-5' : (value ?? '') })}
      />
      {!known && (
        <TextInput
          label="Cron expression"
          description={
            <>
              Minute, hour, day, month, weekday. <Code>30 7 * * 1-5</Code> is half past seven on working days.
            </>
          }
          ff="monospace"
          value={draft.schedule}
          disabled={disabled}
          onChange={(event) => onChange({ schedule: event.currentTarget.value })}
        />
      )}
      {draft.schedule !== '' && (
        <Select
          label="Time zone"
          searchable
          limit={60}
          data={zones}
          value={draft.timeZone}
          disabled={disabled}
          onChange={(zone) => onChange({ timeZone: zone ?? 'UTC' })}
        />
      )}
      <NumberInput
        label="Versions of the data to keep"
        min={1}
        max={1000}
        allowDecimal={false}
        value={draft.keepVersions}
        disabled={disabled}
        onChange={(count) => onChange({ keepVersions: Number(count) || 1 })}
      />
    </Stack>
  )
}
