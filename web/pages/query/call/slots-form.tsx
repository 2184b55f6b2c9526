import { Stack, Text } from '@mantine/core'
import type { SlotsSchema } from '../../deploy/shared/wire.ts'
import { SlotField } from '../slots/slot-field.tsx'
import type { SlotValues } from '../slots/slots.ts'

type Props = {
  /** Whose tables offer values, to those who may read them. */
  projectId?: string | undefined
  slots: SlotsSchema
  values: SlotValues
  errors: Record<string, string>
  onChange: (values: SlotValues) => void
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
          value={values[name]}
          error={errors[name]}
          isInPopover={isInPopover}
          onChange={(value) => onChange({ ...values, [name]: value })}
        />
      ))}
    </Stack>
  )
}
