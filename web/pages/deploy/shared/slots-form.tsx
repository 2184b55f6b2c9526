import { Autocomplete, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useOffered } from '../../build/shared/offered.ts'
import type { Typed } from './slot-values.ts'
import type { SlotSchema, SlotsSchema } from './wire.ts'

type Props = {
  /** Whose tables offer values, to those who may read them. */
  projectId?: string | undefined
  slots: SlotsSchema
  values: Typed
  errors: Record<string, string>
  onChange: (values: Typed) => void
  /** Inside a part that closes on a click elsewhere: what is chosen from drops down within it. */
  isInPopover?: boolean
}

/** One field for each slot, drawn from its schema. */
export function SlotsForm({ projectId, slots, values, errors, onChange, isInPopover = false }: Props) {
  const { properties, required } = slots
  const entries = Object.entries(properties)
  if (entries.length === 0) return <Text c="dimmed">It takes no slots.</Text>
  return (
    <Stack gap="md">
      {entries.map(([name, slot]) => (
        <SlotField
          key={name}
          projectId={projectId}
          name={name}
          slot={slot}
          required={required.includes(name)}
          value={values[name] ?? ''}
          error={errors[name]}
          isInPopover={isInPopover}
          onChange={(value) => onChange({ ...values, [name]: value })}
        />
      ))}
    </Stack>
  )
}

type FieldProps = {
  projectId: string | undefined
  name: string
  slot: SlotSchema
  required: boolean
  value: string | string[]
  error: string | undefined
  isInPopover: boolean
  onChange: (value: string | string[]) => void
}

function SlotField({ projectId, name, slot, required, value, error, isInPopover, onChange }: FieldProps) {
  const comboboxProps = { withinPortal: !isInPopover }
  const from = slot['x-values-from'] ?? (slot.type === 'array' ? slot.items['x-values-from'] : undefined)
  const isOffered = projectId !== undefined && from !== undefined
  const offered = useOffered(projectId ?? '', isOffered ? from : undefined)
  const usual = slot.default === undefined || slot.default === null ? undefined : JSON.stringify(slot.default)
  const shared = {
    label: name,
    description: slot.description,
    // Marked, not enforced: how the endpoint answers a call that lacks it is worth trying too.
    withAsterisk: required,
    error,
    placeholder: usual === undefined ? (required ? formOf(slot) : 'left out') : `${usual} when left out`,
  }
  if (slot.type === 'array') {
    return (
      <TagsInput
        {...shared}
        placeholder="Enter after each"
        data={('enum' in slot.items ? slot.items.enum?.map(String) : undefined) ?? offered}
        value={[value].flat().filter((each) => each !== '')}
        onChange={onChange}
        acceptValueOnBlur
        comboboxProps={comboboxProps}
      />
    )
  }
  const text = String(value)
  const choices = slot.type === 'boolean' ? ['true', 'false'] : slot.enum?.map(String)
  if (choices !== undefined) {
    return (
      <Select
        {...shared}
        data={choices}
        value={text === '' ? null : text}
        onChange={(chosen) => onChange(chosen ?? '')}
        searchable={choices.length > 8}
        clearable
        clearButtonProps={{ 'aria-label': `Leave ${name} out` }}
        allowDeselect
        comboboxProps={comboboxProps}
      />
    )
  }
  const type = inputTypeOf(slot)
  const inputMode = slot.type === 'integer' ? 'numeric' : slot.type === 'number' ? 'decimal' : 'text'
  if (isOffered && type === 'text') {
    return (
      <Autocomplete
        {...shared}
        data={offered}
        limit={20}
        inputMode={inputMode}
        value={text}
        onChange={onChange}
        comboboxProps={comboboxProps}
        autoComplete="off"
        spellCheck={false}
      />
    )
  }
  return (
    <TextInput
      {...shared}
      type={type}
      inputMode={inputMode}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** How a value is written that has no control of its own. */
function formOf(slot: SlotSchema): string | undefined {
  return slot.type === 'string' && slot.format === 'date-time' ? '2026-03-01T08:30:00Z' : undefined
}

/** Days and times have a control of the browser's own; a moment may have an offset, which that one cannot hold. */
function inputTypeOf(slot: SlotSchema): 'date' | 'time' | 'text' {
  if (slot.type !== 'string') return 'text'
  return slot.format === 'date' || slot.format === 'time' ? slot.format : 'text'
}
