import { Button, Checkbox, Code, Group, Modal, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { SlotSchema, SlotsSchema } from '../wire.ts'

type Props = {
  name: string | null
  slots: SlotsSchema
  tables: Record<string, string[]>
  onClose: () => void
  onChange: (slots: SlotsSchema) => void
}

/** What a slot takes: the schema by which calls are checked, forms are drawn and questions are filled in. */
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

const types = [
  { value: 'string', label: 'Text' },
  { value: 'date', label: 'Day' },
  { value: 'date-time', label: 'Moment' },
  { value: 'integer', label: 'Whole number' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True or false' },
  { value: 'array', label: 'List of texts' },
]

type FormProps = {
  slot: SlotSchema
  required: boolean
  tables: Record<string, string[]>
  onClose: () => void
  onSave: (slot: SlotSchema, required: boolean) => void
}

function SlotForm({ slot, required: was, tables, onClose, onSave }: FormProps) {
  const [type, setType] = useState(typeNameOf(slot))
  const [required, setRequired] = useState(was)
  const [description, setDescription] = useState(slot.description ?? '')
  const [from, setFrom] = useState(slot['x-values-from'] ?? '')
  const [choices, setChoices] = useState('enum' in slot ? (slot.enum ?? []).map(String) : [])
  const [fallback, setFallback] = useState(
    slot.default === undefined || slot.default === null ? '' : String(slot.default),
  )
  const columns = Object.entries(tables).flatMap(([table, names]) => names.map((column) => `${table}.${column}`))
  const hasChoices = type === 'string' || type === 'integer' || type === 'number'
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSave(
          slotOf({ before: slot, type, description, from, fallback, choices: hasChoices ? choices : [] }),
          required,
        )
      }}
    >
      <Stack gap="md">
        <Select label="It takes" data={types} value={type} onChange={(next) => setType(next ?? 'string')} />
        <Checkbox
          label="Callers must give it"
          checked={required}
          onChange={(event) => setRequired(event.currentTarget.checked)}
        />
        <TextInput
          label="Description"
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

function typeNameOf(slot: SlotSchema): string {
  return slot.type === 'string' && slot.format !== undefined ? slot.format : slot.type
}

type Written = {
  before: SlotSchema
  type: string
  description: string
  from: string
  fallback: string
  choices: string[]
}

/** What the form does not show (limits, patterns, synonyms) stays while the type does. */
function slotOf({ before, type, description, from, fallback, choices }: Written): SlotSchema {
  const { description: _old, 'x-values-from': _from, default: _default, ...rest } = before
  if ('enum' in rest) delete rest.enum
  const same = typeNameOf(before) === type
  const isTime = type === 'date' || type === 'date-time'
  const fresh = isTime
    ? { type: 'string', format: type }
    : type === 'array'
      ? { type, items: { type: 'string' } }
      : { type }
  const numeric = type === 'integer' || type === 'number'
  const made = {
    ...(same ? rest : fresh),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(from !== '' && { 'x-values-from': from }),
    ...(choices.length > 0 && { enum: numeric ? choices.map(Number) : choices }),
    ...(fallback !== '' && {
      default: numeric ? Number(fallback) : type === 'boolean' ? fallback === 'true' : fallback,
    }),
  }
  // Of the shapes above; the server has the last word when it is inspected.
  return made as SlotSchema
}
