import { ActionIcon, Button, Code, Text, Tooltip } from '@mantine/core'
import { SlidersHorizontal } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { fieldErrors } from '../../../client/refusals.ts'
import type { Project } from '../../../client/wire.ts'
import { RunButton } from '../../build/shared/run-button.tsx'
import shared from '../../build/shared/build.module.css'
import type { SlotSchema } from '../../build/shared/wire.ts'
import type { QueryDraft } from '../draft/use-query-draft.ts'
import { SlotBound } from '../slots/slot-bound.tsx'
import { SlotDialog } from '../slots/slot-dialog.tsx'
import { SlotField } from '../slots/slot-field.tsx'
import { slotNames } from '../slots/slots.ts'
import { ProposedValues } from './proposed-values.tsx'
import classes from './query.module.css'

type Props = { project: Project; draft: QueryDraft; tables: Record<string, string[]>; end: ReactNode }

/** The values of the slots in a line above the rows, and the button that runs the SQL with them. */
export function SlotsStrip({ project, draft, tables, end }: Props) {
  const [defining, setDefining] = useState<string | null>(null)
  const { content, change, run, editor } = draft
  const slots = Object.entries(content.slots.properties)
  return (
    <>
      <form
        className={`${shared.panel} ${classes.strip}`}
        aria-label="Slots"
        onSubmit={(event) => {
          event.preventDefault()
          run.mutate()
        }}
      >
        {slots.length === 0 && <NoSlots named={slotNames(content.sql)} isMistaken={draft.mistake !== null} />}
        {slots.map(([name, slot]) => (
          <Slot key={name} project={project} draft={draft} name={name} slot={slot} onDefine={() => setDefining(name)} />
        ))}
        <div className={classes.acts}>
          {editor && <RunButton isRunning={run.isPending} />}
          {editor && run.isPending && (
            <Button variant="default" onClick={run.stop}>
              Cancel
            </Button>
          )}
          {end}
        </div>
      </form>
      <SlotDialog
        name={defining}
        slots={content.slots}
        tables={tables}
        onClose={() => setDefining(null)}
        onChange={(changed) => change({ slots: changed })}
      />
    </>
  )
}

type SlotProps = { project: Project; draft: QueryDraft; name: string; slot: SlotSchema; onDefine: () => void }

function Slot({ project, draft, name, slot, onDefine }: SlotProps) {
  const { content, change, take, values, setValues, editor, inspection, run } = draft
  const wrong = run.error === null ? {} : fieldErrors(run.error)
  // A reading of another text says nothing about this one.
  const data = inspection.isPlaceholderData ? undefined : inspection.data
  const mended = editor ? (data?.mended_sql ?? null) : null
  return (
    <div className={classes.slot}>
      <div>
        <SlotField
          projectId={project.id}
          name={name}
          slot={slot}
          required={content.slots.required.includes(name)}
          value={values[name]}
          error={wrong[`parameters.${name}`]}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
        <SlotBound bound={data?.bounds?.[name]} onFix={mended === null ? null : () => take({ sql: mended })} />
        {editor && (
          <ProposedValues
            projectId={project.id}
            sql={content.sql}
            name={name}
            slot={slot}
            onTake={(next) =>
              change({ slots: { ...content.slots, properties: { ...content.slots.properties, [name]: next } } })
            }
          />
        )}
      </div>
      {editor && (
        <Tooltip label={`What ${name} takes`}>
          <ActionIcon variant="subtle" color="gray" aria-label={`Define ${name}`} onClick={onDefine}>
            <SlidersHorizontal size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  )
}

/** The SQL may name slots that are not known yet: the server reads them once it understands the rest. */
function NoSlots({ named, isMistaken }: { named: string[]; isMistaken: boolean }) {
  if (named.length === 0) {
    return (
      <Text c="dimmed">
        No slots. Write <Code>$name</Code> in the SQL where callers choose a value.
      </Text>
    )
  }
  return (
    <Text c="dimmed">
      {named.map((name) => (
        <Code key={name} mr={4}>
          ${name}
        </Code>
      ))}
      {isMistaken
        ? `Fix the SQL to fill in its slot${named.length === 1 ? '' : 's'}.`
        : `${named.length === 1 ? 'is' : 'are'} being looked at.`}
    </Text>
  )
}
