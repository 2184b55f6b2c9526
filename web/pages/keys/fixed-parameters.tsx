import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import classes from './keys.module.css'

export type Fixed = { name: string; value: string }
type FixedValue = string | number | boolean | Array<string | number | boolean>

/** Slots whose value the key decides: a caller of one branch sees that branch only. */
export function FixedParameters({ fixed, onChange }: { fixed: Fixed[]; onChange: (fixed: Fixed[]) => void }) {
  const change = (at: number, part: Partial<Fixed>): void =>
    onChange(fixed.map((each, index) => (index === at ? { ...each, ...part } : each)))
  return (
    <Stack gap="xs">
      <div>
        <Text fw={600}>Fixed parameters</Text>
        <Text size="xs" c="dimmed">
          Slots whose value this key decides. Its callers cannot send another.
        </Text>
      </div>
      {fixed.map(({ name, value }, at) => (
        // Lines have no name of their own until one is typed.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className={classes['pair']}>
          <TextInput
            aria-label={`Slot ${at + 1}`}
            placeholder="region"
            value={name}
            onChange={(event) => change(at, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of slot ${at + 1}`}
            placeholder="north"
            value={value}
            onChange={(event) => change(at, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove slot ${at + 1}`}
            onClick={() => onChange(fixed.filter((_, index) => index !== at))}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...fixed, { name: '', value: '' }])}
        >
          Fix a slot
        </Button>
      </Group>
    </Stack>
  )
}

/** As it is typed. */
export function showFixed(parameters: Record<string, unknown>): Fixed[] {
  return Object.entries(parameters).map(([name, value]) => ({
    name,
    value: typeof value === 'string' && readValue(value) === value ? value : JSON.stringify(value),
  }))
}

/** As it is sent. Lines without a name are not there yet. */
export function readFixed(fixed: Fixed[]): Record<string, FixedValue> {
  return Object.fromEntries(
    fixed.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), readValue(value)]),
  )
}

/** Numbers, true and false as such, lists and quoted texts as JSON; all else is text. */
function readValue(text: string): FixedValue {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
    if (Array.isArray(value)) return value
  } catch {
    // Most values are words, which are no JSON.
  }
  return text
}
