import { Button, Group, Stack, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { useOffered } from '../build/shared/offered.ts'
import type { Place } from '../deploy/shared/place.ts'
import { parametersOf, type SlotValues } from '../query/slots/slots.ts'
import { SlotsForm } from '../query/call/slots-form.tsx'
import type { SlotSchema, SlotsSchema } from '../deploy/shared/wire.ts'
import classes from './ask.module.css'
import type { More, QuestionResult } from './question-result.ts'

/** More values than these are chosen in a field, not among chips. */
const mostChips = 8

type Props = { place: Place; result: QuestionResult; onAgain: (more: More) => void }

/** The ways on from a question that was not answered: give what is missing, leave out what cannot be applied, choose. */
export function NextSteps({ place, result, onAgain }: Props) {
  const { outcome, missing, query, routing, unexpressed } = result
  const pinned = query === null ? {} : { query_name: query }
  const choices = outcome === 'ambiguous' ? routing.candidates.slice(0, 3) : []
  const isPartial = outcome === 'unexpressed' || outcome === 'unsure'
  if (outcome === 'missing_slots' && missing !== null) {
    return (
      <Missing
        projectId={place.project.id}
        missing={missing}
        onGive={(parameters) => onAgain({ ...pinned, parameters })}
      />
    )
  }
  if (!isPartial && choices.length === 0) return null
  return (
    <Group gap="xs">
      {isPartial && (
        <Button size="xs" variant="default" onClick={() => onAgain({ partial: true })}>
          Answer without {unexpressed.length === 1 ? 'it' : 'them'}
        </Button>
      )}
      {choices.map(({ name }) => (
        <Button key={name} size="xs" variant="default" onClick={() => onAgain({ query_name: name })}>
          Ask {name}
        </Button>
      ))}
    </Group>
  )
}

type MissingProps = {
  projectId: string
  missing: SlotsSchema
  onGive: (parameters: Record<string, unknown>) => void
}

/** A field for each missing value; one of few values is chosen by a click. */
function Missing({ projectId, missing, onGive }: MissingProps) {
  const [typed, setTyped] = useState<SlotValues>({})
  const slots = Object.entries(missing.properties)
  const [only] = slots
  const choices = useChoices(projectId, slots.length === 1 ? only?.[1] : undefined)
  if (only !== undefined && choices.length > 0 && choices.length <= mostChips) {
    const [name] = only
    return (
      <fieldset className={classes['choices']} aria-label={name}>
        {choices.map((choice) => (
          <UnstyledButton
            key={String(choice)}
            className={classes['chip'] ?? ''}
            onClick={() => onGive({ [name]: choice })}
          >
            {String(choice)}
          </UnstyledButton>
        ))}
      </fieldset>
    )
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onGive(parametersOf(missing, typed))
      }}
    >
      <Stack gap="sm" maw="22rem">
        <SlotsForm projectId={projectId} slots={missing} values={typed} errors={{}} onChange={setTyped} />
        <Button type="submit" style={{ alignSelf: 'flex-start' }}>
          Ask with {slots.length === 1 ? 'this value' : 'these values'}
        </Button>
      </Stack>
    </form>
  )
}

/** The values that a slot can have, where they are few and known. */
function useChoices(projectId: string, slot: SlotSchema | undefined): unknown[] {
  const from = slot?.['x-values-from']
  const offered = useOffered(projectId, from)
  if (slot === undefined || slot.type === 'array') return []
  if (slot.type === 'boolean') return [true, false]
  return slot.enum ?? (slot.type === 'string' && from !== undefined ? offered : [])
}
