import { Checkbox, Code, Modal, Select, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { SlotSchema, SlotsSchema } from '../../build/shared/wire.ts'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { typed } from '../../../parts/form/typed.ts'
import { freshSlot, slotRow, slotTypeChoices, slotTypeOf, type SlotTypeName } from './slot-types.ts'

type Props = {
  name: string | null
  slots: SlotsSchema
  tables: Record<string, string[]>
  onClose: () => void
  onChange: (slots: SlotsSchema) => void
}

/** The schema of a slot, by which calls are checked, forms are drawn and questions are filled in. */
export function SlotDialog({ name, slots, tables, onClose, onChange }: Props) {
  const slot = name === null ? undefined : slots.properties[name]
  return (
    <Modal
      opened={slot !== undefined}
      onClose={onClose}
      title={
        <>
          The slot <Code>${name}</Code>
        </>
      }
    >
      {name !== null && slot !== undefined && (
        <SlotForm
          key={name}
          slot={slot}
          required={slots.required.includes(name)}
          tables={tables}
          onClose={onClose}
          onSave={(changed, required) => {
            const others = slots.required.filter((each) => each !== name)
            onChange({
              ...slots,
              properties: { ...slots.properties, [name]: changed },
              required: required ? [...others, name] : others,
            })
            onClose()
          }}
        />
      )}
    </Modal>
  )
}

type FormProps = {
  slot: SlotSchema
  required: boolean
  tables: Record<string, string[]>
  onClose: () => void
  onSave: (slot: SlotSchema, required: boolean) => void
}

function SlotForm({ slot, required: was, tables, onClose, onSave }: FormProps) {
  const [required, setRequired] = useState(was)
  const [written, setWritten] = useState(() => writtenOf(slot))
  const set = (part: Partial<Written>): void => setWritten({ ...written, ...part })
  const text = typed(written, set)
  const { type, from } = written
  const columns = Object.entries(tables).flatMap(([table, names]) => names.map((column) => `${table}.${column}`))
  const { hasChoices } = slotRow(type)
  return (
    <ActForm
      onSubmit={() => onSave(slotOf(slot, { ...written, choices: hasChoices ? written.choices : [] }), required)}
      act={{ error: null, isPending: false }}
      verb="Apply"
      onClose={onClose}
    >
      <Select
        label="It takes"
        data={slotTypeChoices}
        value={type}
        onChange={(next) => set({ type: next ?? 'string' })}
      />
      <Checkbox
        label="Callers must give it"
        checked={required}
        onChange={(event) => setRequired(event.currentTarget.checked)}
      />
      <TextInput label="Title" description="What people call it, where that is not its name." {...text('title')} />
      <TextInput
        label="Description"
        spellCheck
        description="Callers read it, and it helps questions to find the value."
        {...text('description')}
      />
      {hasChoices && (
        <TagsInput
          label="Only these values"
          placeholder="any"
          value={written.choices}
          onChange={(choices) => set({ choices })}
        />
      )}
      <Select
        label="Values come from the column"
        data={columns}
        value={from === '' ? null : from}
        searchable
        clearable
        allowDeselect
        limit={100}
        placeholder="none"
        onChange={(next) => set({ from: next ?? '' })}
      />
      {!required && type !== 'array' && (
        <TextInput label="When it is not given" placeholder="null" {...text('fallback')} />
      )}
      {isDated(type) && (
        <Select
          label="As an end of a range"
          description="Whether its own day belongs to the range."
          data={bounds}
          value={written.bound}
          onChange={(next) => set({ bound: next ?? 'sql' })}
        />
      )}
    </ActForm>
  )
}

const bounds = [
  { value: 'sql', label: 'As the SQL says' },
  { value: 'inclusive', label: 'Inclusive' },
  { value: 'exclusive', label: 'Exclusive' },
]

type Written = {
  type: SlotTypeName
  title: string
  description: string
  from: string
  fallback: string
  /** `sql` where the slot says nothing itself. */
  bound: string
  choices: string[]
}

function isDated(type: SlotTypeName): boolean {
  return type === 'date' || type === 'timestamp'
}

function writtenOf(slot: SlotSchema): Written {
  return {
    type: slotTypeOf(slot),
    title: slot.title ?? '',
    description: slot.description ?? '',
    from: slot['x-values-from'] ?? '',
    fallback: slot.default === undefined || slot.default === null ? '' : String(slot.default),
    bound: (slot.type === 'string' ? slot['x-bound'] : undefined) ?? 'sql',
    choices: 'enum' in slot ? (slot.enum ?? []).map(String) : [],
  }
}

/** Fields that the form does not show (limits, patterns, synonyms) stay while the type does. */
function slotOf(before: SlotSchema, written: Written): SlotSchema {
  const { type, title, description, from, fallback, bound, choices } = written
  const { title: _title, description: _old, 'x-values-from': _from, default: _default, ...rest } = before
  if ('enum' in rest) delete rest.enum
  if ('x-bound' in rest) delete rest['x-bound']
  const same = slotTypeOf(before) === type
  const { read } = slotRow(type)
  const made = {
    ...(same ? rest : freshSlot(type)),
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(from !== '' && { 'x-values-from': from }),
    ...(isDated(type) && bound !== 'sql' && { 'x-bound': bound }),
    ...(choices.length > 0 && { enum: choices.map(read) }),
    ...(fallback !== '' && { default: read(fallback) }),
  }
  // One of the shapes above; the server has the last word when it is inspected.
  return made as SlotSchema
}
