import { ActionIcon, Button, Code, Group, Kbd, Stack, Text, Tooltip } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Rocket, Save, SlidersHorizontal } from 'lucide-react'
import { startTransition, useState } from 'react'
import { Heading } from '../../../parts/text/heading.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import type { Project } from '../../../client/wire.ts'
import shared from '../shared/build.module.css'
import { RunButton } from '../shared/run-button.tsx'
import { TagList } from '../shared/tags.tsx'
import type { Query } from '../shared/wire.ts'
import { AdviceList } from './advice.tsx'
import { DeployDraft } from './deploy-draft.tsx'
import { DeleteQuery } from './delete-query.tsx'
import { Description } from './description.tsx'
import { Examples } from './examples.tsx'
import { CacheSetting } from './cache-setting.tsx'
import { DeployedIn } from './queries.tsx'
import classes from './query.module.css'
import { QueryMenu } from './query-menu.tsx'
import { Result } from './result.tsx'
import { SlotBound } from './slots/slot-bound.tsx'
import { SlotDialog } from './slots/slot-dialog.tsx'
import { SlotField } from './slots/slot-field.tsx'
import { slotNames } from './slots/slots.ts'
import { SqlEditor } from './sql/sql-editor.tsx'
import { TablesList } from './tables-list.tsx'
import { useQueryDraft, type QueryDraft } from './draft/use-query-draft.ts'

type Props = { project: Project; query: Query; tables: Record<string, string[]> }

/** SQL on the left, its slots on the right, the rows below, and what helps questions to find it. */
export function QueryScreen({ project, query, tables }: Props) {
  const draft = useQueryDraft(project, query)
  const [deploying, setDeploying] = useState(false)
  const { content, change, editor, run } = draft
  useHotkeys([['mod+Enter', () => editor && run.mutate()]], [])
  const openSheet = (): void => {
    if (draft.dirty) draft.save.mutate(undefined, { onSuccess: () => setDeploying(true) })
    else setDeploying(true)
  }
  return (
    <>
      <Heading
        title={query.name}
        within={project.name}
        action={editor ? <Acts project={project} query={query} draft={draft} onDeploy={openSheet} /> : undefined}
      >
        <DeployedIn project={project} query={query} /> <TagList tags={query.tags} />
        {!editor && ' · You are a viewer here: an editor changes and runs it.'}
      </Heading>
      <RefusalNotice error={draft.save.error} />
      <div className={classes.work}>
        <div className={`${shared.panel} ${classes.sql}`}>
          <SqlEditor
            key={draft.generation}
            value={content.sql}
            // The editor has drawn it already; the rest may follow when there is time.
            onChange={(sql) => startTransition(() => change({ sql }))}
            onRun={() => run.mutate()}
            tables={tables}
            slots={Object.keys(content.slots.properties)}
            mistake={draft.mistake}
            readOnly={!editor}
          />
          <div className={classes.below} aria-live="polite">
            {draft.mistake !== null ? (
              <Text size="xs" c="var(--sluice-danger)">
                {draft.mistake.message}
                {draft.mistake.line !== null && ` (line ${draft.mistake.line}, column ${draft.mistake.column})`}
              </Text>
            ) : (
              <Text size="xs" c="dimmed">
                {readsOf(draft)}
              </Text>
            )}
            <Text size="xs" c="dimmed" className={classes.hint ?? ''} aria-hidden>
              <Kbd size="xs">Esc</Kbd> <Kbd size="xs">Tab</Kbd> leaves the editor
            </Text>
          </div>
        </div>
        <div className={classes.side}>
          <Slots project={project} draft={draft} tables={tables} />
          <TablesList tables={tables} />
        </div>
        {editor && (
          <div className={classes.outcome}>
            <Result draft={draft} />
          </div>
        )}
      </div>
      <div className={classes.about}>
        <Stack gap="lg">
          <Description
            key={draft.generation}
            value={content.description}
            disabled={!editor}
            onChange={(description) => change({ description })}
          />
          <CacheSetting
            value={content.cache_seconds}
            disabled={!editor}
            onChange={(seconds) => change({ cache_seconds: seconds })}
          />
          {editor && <AdviceList project={project} query={query} draft={draft} />}
        </Stack>
        <Examples project={project} name={query.name} draft={draft} />
      </div>
      {deploying && <DeployDraft project={project} name={query.name} onClose={() => setDeploying(false)} />}
    </>
  )
}

type ActsProps = { project: Project; query: Query; draft: QueryDraft; onDeploy: () => void }

function Acts({ project, query, draft, onDeploy }: ActsProps) {
  return (
    <Group gap="xs">
      {draft.dirty && (
        <Button variant="default" onClick={draft.discard}>
          Discard changes
        </Button>
      )}
      <QueryMenu project={project} query={query} />
      <DeleteQuery project={project} query={query} />
      <Button
        variant="default"
        leftSection={<Save size={16} aria-hidden />}
        disabled={!draft.dirty}
        loading={draft.save.isPending}
        onClick={() => draft.save.mutate()}
      >
        Save draft
      </Button>
      <Button leftSection={<Rocket size={16} aria-hidden />} disabled={draft.mistake !== null} onClick={onDeploy}>
        Deploy…
      </Button>
    </Group>
  )
}

function readsOf({ inspection: { data } }: QueryDraft): string {
  if (data === undefined) return ''
  const tables = Object.keys(data.tables)
  const columns = data.columns.map(({ name }) => name).join(', ')
  return `${tables.length === 0 ? 'Reads no table' : `Reads ${tables.join(', ')}`}; gives ${columns}`
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

type SlotsProps = { project: Project; draft: QueryDraft; tables: Record<string, string[]> }

function Slots({ project, draft, tables }: SlotsProps) {
  const [defining, setDefining] = useState<string | null>(null)
  const { content, change, take, values, setValues, run, editor, inspection } = draft
  // A reading of another text says nothing about this one.
  const data = inspection.isPlaceholderData ? undefined : inspection.data
  const mended = editor ? (data?.mended_sql ?? null) : null
  const slots = Object.entries(content.slots.properties)
  return (
    <>
      <form
        className={`${shared.panel} ${classes.slots}`}
        aria-label="Slots"
        onSubmit={(event) => {
          event.preventDefault()
          run.mutate()
        }}
      >
        <Stack gap="md">
          {slots.length === 0 && <NoSlots named={slotNames(content.sql)} isMistaken={draft.mistake !== null} />}
          {slots.map(([name, slot]) => (
            <div key={name} className={classes.slot}>
              <div>
                <SlotField
                  projectId={project.id}
                  name={name}
                  slot={slot}
                  required={content.slots.required.includes(name)}
                  value={values[name]}
                  onChange={(value) => setValues({ ...values, [name]: value })}
                />
                <SlotBound bound={data?.bounds?.[name]} onFix={mended === null ? null : () => take({ sql: mended })} />
              </div>
              {editor && (
                <Tooltip label={`What ${name} takes`}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Define ${name}`}
                    onClick={() => setDefining(name)}
                  >
                    <SlidersHorizontal size={15} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              )}
            </div>
          ))}
          {editor && <RunButton isRunning={run.isPending} />}
          {editor && run.isPending && (
            <Button variant="default" onClick={run.stop}>
              Cancel
            </Button>
          )}
        </Stack>
      </form>
      <SlotDialog
        name={defining}
        slots={content.slots}
        tables={tables}
        onClose={() => setDefining(null)}
        onChange={(slots) => change({ slots })}
      />
    </>
  )
}
