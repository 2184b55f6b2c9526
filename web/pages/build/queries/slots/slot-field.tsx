import { Autocomplete, Select, TagsInput, TextInput } from '@mantine/core'
import { useOffered } from '../../shared/offered.ts'
import type { SlotSchema } from '../../shared/wire.ts'
import { slotRow, slotTypeOf } from './slot-types.ts'
import type { SlotValue } from './slots.ts'

type Props = {
  projectId: string
  name: string
  slot: SlotSchema
  required: boolean
  value: SlotValue | undefined
  onChange: (value: SlotValue) => void
  error?: string | undefined
}

/** A field for the value of a slot, as its schema says it must be. */
export function SlotField({ projectId, name, slot, required, value, onChange, error }: Props) {
  const item = slot.type === 'array' ? slot.items : slot
  const offered = useOffered(projectId, slot['x-values-from'] ?? item['x-values-from'])
  const choices = 'enum' in item && item.enum !== undefined ? item.enum.map(String) : null
  const fallback = slot.default === undefined || slot.default === null ? '' : String(slot.default)
  const common = {
    label: name,
    description: slot.description,
    withAsterisk: required,
    error,
    placeholder: fallback === '' ? (required ? undefined : 'not given') : fallback,
  }
  const text = typeof value === 'string' ? value : ''
  const { input } = slotRow(slotTypeOf(slot))
  if (slot.type === 'array') {
    return (
      <TagsInput {...common} data={choices ?? offered} value={Array.isArray(value) ? value : []} onChange={onChange} />
    )
  }
  if (choices !== null || input === 'choice') {
    return (
      <Select
        {...common}
        clearable
        allowDeselect
        data={choices ?? ['true', 'false']}
        value={text === '' ? null : text}
        onChange={(next) => onChange(next ?? '')}
      />
    )
  }
  if (input === 'date' || input === 'time') {
    return <TextInput {...common} type={input} value={text} onChange={(event) => onChange(event.currentTarget.value)} />
  }
  return (
    <Autocomplete
      {...common}
      data={offered}
      value={text}
      onChange={onChange}
      limit={20}
      spellCheck={false}
      autoComplete="off"
      inputMode={input}
    />
  )
}
