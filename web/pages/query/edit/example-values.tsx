import { useState } from 'react'
import type { Project } from '../../../client/wire.ts'
import type { SlotsSchema } from '../../build/shared/wire.ts'
import classes from './query.module.css'
import { SlotField } from '../slots/slot-field.tsx'
import { parametersOf, valuesOf } from '../slots/slots.ts'

type Props = {
  project: Project
  slots: SlotsSchema
  parameters: Record<string, unknown>
  onChange: (parameters: Record<string, unknown>) => void
}

/** The values that an example means: a field for each slot. What is left empty is not given. */
export function ExampleValues({ project, slots, parameters, onChange }: Props) {
  const [values, setValues] = useState(() => valuesOf(parameters))
  const entries = Object.entries(slots.properties)
  if (entries.length === 0) return null
  return (
    <div className={classes.exampleValues}>
      {entries.map(([name, slot]) => (
        <SlotField
          key={name}
          projectId={project.id}
          name={name}
          slot={{ ...slot, description: undefined }}
          required={slots.required.includes(name)}
          value={values[name]}
          onChange={(value) => {
            const next = { ...values, [name]: value }
            setValues(next)
            onChange(parametersOf(slots, next))
          }}
        />
      ))}
    </div>
  )
}
