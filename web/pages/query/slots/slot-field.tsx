import { Autocomplete, Select, TagsInput, TextInput } from '@mantine/core'
import { useOffered } from '../../build/shared/offered.ts'
import type { SlotSchema } from '../../build/shared/wire.ts'
import { slotRow, slotTypeOf } from './slot-types.ts'
import type { SlotValue } from './slots.ts'

type Props = {
  /** Whose tables offer values, to those who may read them. */
  projectId?: string | undefined
  name: string
  slot: SlotSchema
  required: boolean
  value: SlotValue | undefined
  onChange: (value: SlotValue) => void
  error?: string | undefined
  isInPopover?: boolean
}

/** A field for the value of a slot, as its schema says it must be. */
export function SlotField({ projectId, name, slot, required, value, onChange, error, isInPopover = false }: Props) {
  const item = slot.type === 'array' ? slot.items : slot
  const from = slot['x-values-from'] ?? item['x-values-from']
  const offered = useOffered(projectId ?? '', projectId === undefined ? undefined : from)
  const choices = 'enum' in item && item.enum !== undefined ? item.enum.map(String) : null
  const usual = slot.default === undefined || slot.default === null ? '' : String(slot.default)
  const common = {
    label: name,
    description: slot.description,
    // Marked, not enforced: how the endpoint answers a call that lacks it is worth trying too.
    withAsterisk: required,
    error,
    placeholder: usual === '' ? (required ? formOf(slot) : 'not given') : `${usual} unless given`,
  }
  const comboboxProps = { withinPortal: !isInPopover }
  const text = typeof value === 'string' ? value : ''
  const { input } = slotRow(slotTypeOf(slot))
  if (slot.type === 'array') {
    return (
      <TagsInput
        {...common}
        placeholder="Enter after each"
        data={choices ?? offered}
        value={Array.isArray(value) ? value : []}
        onChange={onChange}
        acceptValueOnBlur
        comboboxProps={comboboxProps}
      />
    )
  }
  if (choices !== null || input === 'choice') {
    const data = choices ?? ['true', 'false']
    return (
      <Select
        {...common}
        clearable
        clearButtonProps={{ 'aria-label': `Leave ${name} out` }}
        allowDeselect
        searchable={data.length > 8}
        data={data}
        value={text === '' ? null : text}
        onChange={(next) => onChange(next ?? '')}
        comboboxProps={comboboxProps}
      />
    )
  }
  const typed = { ...common, value: text, autoComplete: 'off', spellCheck: false }
  if (from === undefined || input === 'date' || input === 'time') {
    const type = input === 'date' || input === 'time' ? input : 'text'
    const inputMode = input === 'decimal' ? 'decimal' : 'text'
    return (
      <TextInput
        {...typed}
        type={type}
        inputMode={inputMode}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  return <Autocomplete {...typed} data={offered} onChange={onChange} limit={20} comboboxProps={comboboxProps} />
}

/** How a value is written that has no control of its own. */
function formOf(slot: SlotSchema): string | undefined {
  return slot.type === 'string' && slot.format === 'date-time' ? '2026-03-01T08:30:00Z' : undefined
}
