import { Button, Popover, Stack, UnstyledButton } from '@mantine/core'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { useVersion } from '../deploy/shared/queries.ts'
import { parametersOf, valuesOf, type SlotValues } from '../query/slots/slots.ts'
import { SlotsForm } from '../query/call/slots-form.tsx'
import type { SlotsSchema } from '../deploy/shared/wire.ts'
import classes from './ask.module.css'
import { sayValue } from './question-words.ts'

type Props = {
  projectId: string
  query: string
  version: number
  parameters: Record<string, unknown>
  onEdit: (parameters: Record<string, unknown>) => void
}

/** The values of an answer, each to be changed in place. */
export function SlotChips({ projectId, query, version, parameters, onEdit }: Props) {
  const content = useVersion({ projectId, name: query }, version)
  const slots = content.data?.slots
  return Object.keys(slots?.properties ?? parameters).map((name) =>
    slots === undefined ? null : (
      <SlotChip
        // A changed value closes what it was changed in.
        key={`${name} ${JSON.stringify(parameters[name])}`}
        projectId={projectId}
        name={name}
        slots={slots}
        parameters={parameters}
        onEdit={onEdit}
      />
    ),
  )
}

type ChipProps = Pick<Props, 'projectId' | 'parameters' | 'onEdit'> & { name: string; slots: SlotsSchema }

function SlotChip({ projectId, name, slots, parameters, onEdit }: ChipProps) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState<SlotValues>(() => valuesOf(parameters))
  const slot = slots.properties[name]
  if (slot === undefined) return null
  const value = parameters[name]
  const isGiven = value !== null && value !== undefined
  const own: SlotsSchema = {
    ...slots,
    properties: { [name]: slot },
    required: slots.required.filter((each) => each === name),
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" shadow="md" width={280} trapFocus withinPortal>
      <Popover.Target>
        <UnstyledButton
          className={classes['slot'] ?? ''}
          aria-label={`${name}: ${isGiven ? sayValue(value) : 'any'}. Change`}
          onClick={() => setOpen(!isOpen)}
        >
          <code>{name}</code> {isGiven ? `= ${sayValue(value)}` : 'any'}
          <ChevronDown size={12} aria-hidden />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={`Change ${name}`}>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            setOpen(false)
            onEdit(parametersOf(slots, typed))
          }}
        >
          <Stack gap="sm">
            <SlotsForm projectId={projectId} slots={own} values={typed} errors={{}} onChange={setTyped} isInPopover />
            <Button type="submit" size="xs" style={{ alignSelf: 'flex-start' }}>
              Apply
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
