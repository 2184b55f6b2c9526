import { Button, Checkbox, Code, Group, Modal, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { SlotSchema, SlotsSchema } from '../../build/shared/wire.ts'
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
  const [type, setType] = useState(slotTypeOf(slot))
  const [required, setRequired] = useState(was)
  const [title, setTitle] = useState(slot.title ?? '')
  const [description, setDescription] = useState(slot.description ?? '')
  const [from, setFrom] = useState(slot['x-values-from'] ?? '')
  const [choices, setChoices] = useState('enum' in slot ? (slot.enum ?? []).map(String) : [])
  const [fallback, setFallback] = useState(
    slot.default === undefined || slot.default === null ? '' : String(slot.default),
  )
  const [bound, setBound] = useState(boundIn(slot))
  const columns = Object.entries(tables).flatMap(([table, names]) => names.map((column) => `${table}.${column}`))
  const { hasChoices } = slotRow(type)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSave(
          slotOf({ before: slot, type, title, description, from, fallback, bound, choices: hasChoices ? choices : [] }),
          required,
        )
      }}
    >
      <Stack gap="md">
        <Select label="It takes" data={slotTypeChoices} value={type} onChange={(next) => setType(next ?? 'string')} />
        <Checkbox
          label="Callers must give it"
          checked={required}
          onChange={(event) => setRequired(event.currentTarget.checked)}
        />
        <TextInput
          label="Title"
          description="What people call it, where that is not its name."
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <TextInput
          label="Description"
          spellCheck
          description="Callers read it, and it helps questions to find the value."
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        {hasChoices && <TagsInput label="Only these values" placeholder="any" value={choices} onChange={setChoices} />}
        <Select
          label="Values come from the column"
          data={columns}
          value={from === '' ? null : from}
          searchable
          clearable
          allowDeselect
          limit={100}
          placeholder="none"
          onChange={(next) => setFrom(next ?? '')}
        />
        {!required && type !== 'array' && (
          <TextInput
            label="When it is not given"
            placeholder="null"
            value={fallback}
            onChange={(event) => setFallback(event.currentTarget.value)}
          />
        )}
        {isDated(type) && (
          <Select
            label="As an end of a range"
            description="Whether its own day belongs to the range."
            data={[
              { value: 'sql', label: 'As the SQL says' },
              { value: 'inclusive', label: 'Inclusive' },
              { value: 'exclusive', label: 'Exclusive' },
            ]}
            value={bound}
            onChange={(next) => setBound(next ?? 'sql')}
          />
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Apply</Button>
        </Group>
      </Stack>
    </form>
  )
}

type Written = {
  before: SlotSchema
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

function boundIn(slot: SlotSchema): string {
  return (slot.type === 'string' ? slot['x-bound'] : undefined) ?? 'sql'
}

/** Fields that the form does not show (limits, patterns, synonyms) stay while the type does. */
function slotOf({ before, type, title, description, from, fallback, bound, choices }: Written): SlotSchema {
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
