import { ActionIcon, Button, Group, Select, Stack, Tabs, Text, Tooltip } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { FileCode2, Plus, X } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { useComeIntoView } from '../../../parts/text/come-into-view.ts'
import { DataGrid } from '../../../parts/grid/data-grid.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { useStoppable } from '../../../client/queries.ts'
import { servedRows, useObjects } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { sayTime } from '../../../text/words.ts'
import shared from '../shared/build.module.css'
import { RunButton } from '../shared/run-button.tsx'
import { inspect } from '../queries/draft/inspect.ts'
import { NewQueryDialog } from '../queries/new-query-dialog.tsx'
import queryClasses from '../queries/query.module.css'
import { SlotField } from '../queries/slots/slot-field.tsx'
import { keepOnly, noSlots, parametersOf, slotNames } from '../queries/slots/slots.ts'
import { SqlEditor } from '../queries/sql/sql-editor.tsx'
import { mistakeOf } from '../queries/sql/sql-mistake.ts'
import { TablesList } from '../queries/tables-list.tsx'
import type { Preview, SlotsSchema } from '../shared/wire.ts'
import { PastRuns } from './past-runs.tsx'
import classes from './playground.module.css'
import { useScratches, type Scratches } from './scratch.ts'
import { Waiting } from '../../../parts/text/waiting.tsx'

/** SQL over the project's tables that nobody has to name or save; a query is made of what is good. */
export function PlaygroundPage({ project }: { project: Project }) {
  const objects = useObjects(project.id)
  const isEditor = project.role !== 'viewer'
  return (
    <>
      <Heading title="Playground" within={project.name}>
        {isEditor
          ? 'Try SQL over the tables of this project. Your tabs stay in this browser; nobody else sees them.'
          : 'You are a viewer here: an editor runs SQL.'}
      </Heading>
      {isEditor && (
        <Loaded query={objects}>
          {(list) => {
            const tables = Object.fromEntries(
              [...servedRows(list).values()].map(({ table_name: table, columns }) => [
                table,
                (columns ?? []).map(({ name }) => name),
              ]),
            )
            return <Playground project={project} tables={tables} />
          }}
        </Loaded>
      )}
    </>
  )
}

const limits = ['10', '100', '1000']

function Playground({ project, tables }: { project: Project; tables: Record<string, string[]> }) {
  const [table] = Object.keys(tables).toSorted()
  const scratches = useScratches(project.id, table === undefined ? 'select 1 as one' : `select *\nfrom ${table}`)
  const { current } = scratches
  const [most, setMost] = useState('100')
  const [naming, setNaming] = useState(false)
  const [generation, setGeneration] = useState(0)
  const slots = useSlots(project.id, current.sql)
  const run = useStoppable(async (_input: void, signal) => {
    const { sql, values } = current
    const at = new Date().toISOString()
    const parameters = parametersOf(keepOnly(slots.schema, slotNames(sql)), values)
    const body = { sql, parameters, max_rows: Number(most) }
    try {
      const path = `/v1/projects/${project.id}/queries/run`
      const answer = await call<Preview>('POST', path, { body, signal, timeoutMs: 120_000 })
      const { row_count: rows, execution_time_ms: elapsedMs } = answer
      scratches.note({ at, sql, rows, elapsedMs, error: null })
      return { tab: current.id, answer }
    } catch (error) {
      const words = signal.aborted ? 'Cancelled' : error instanceof Error ? error.message : 'Failed'
      scratches.note({ at, sql, rows: null, elapsedMs: null, error: words })
      throw error
    }
  })
  const start = (): void => {
    if (current.sql.trim() !== '') run.mutate()
  }
  return (
    <>
      <ScratchTabs
        scratches={scratches}
        onChange={() => {
          run.stop()
          run.reset()
        }}
      />
      <div className={queryClasses.work}>
        <div className={`${shared.panel} ${queryClasses.sql}`}>
          <SqlEditor
            key={`${current.id} ${generation}`}
            value={current.sql}
            onChange={(sql) => scratches.edit({ sql })}
            onRun={start}
            tables={tables}
            slots={Object.keys(slots.schema.properties)}
            mistake={slots.mistake}
            readOnly={false}
          />
          <div className={queryClasses.below} aria-live="polite">
            <Text size="xs" c={slots.mistake === null ? 'dimmed' : 'var(--sluice-danger)'}>
              {slots.mistake?.message ?? slots.reads}
            </Text>
          </div>
        </div>
        <div className={queryClasses.side}>
          <form
            aria-label="Run it"
            className={`${shared.panel} ${queryClasses.slots}`}
            onSubmit={(event) => {
              event.preventDefault()
              start()
            }}
          >
            <Stack gap="sm">
              {Object.entries(slots.schema.properties).map(([name, slot]) => (
                <SlotField
                  key={name}
                  projectId={project.id}
                  name={name}
                  slot={slot}
                  required={slots.schema.required.includes(name)}
                  value={current.values[name]}
                  onChange={(value) => scratches.edit({ values: { ...current.values, [name]: value } })}
                />
              ))}
              <Select
                label="Rows at most"
                data={limits.map((value) => ({ value, label: Number(value).toLocaleString('en') }))}
                value={most}
                onChange={(value) => setMost(value ?? '100')}
              />
              <RunButton isRunning={run.isPending} />
              {run.isPending && (
                <Button variant="default" onClick={run.stop}>
                  Cancel
                </Button>
              )}
              <Button
                variant="default"
                leftSection={<FileCode2 size={16} aria-hidden />}
                disabled={slots.mistake !== null || current.sql.trim() === ''}
                onClick={() => setNaming(true)}
              >
                Make a query of it…
              </Button>
            </Stack>
          </form>
          <TablesList tables={tables} />
        </div>
        <div className={queryClasses.outcome}>
          <ScratchResult
            run={{ ...run, answer: run.data?.tab === current.id ? run.data.answer : undefined }}
            storageKey={`${project.id} playground ${current.id}`}
          />
          <PastRuns
            runs={scratches.history}
            onTake={(sql) => {
              scratches.edit({ sql })
              setGeneration(generation + 1)
            }}
            onForget={scratches.forget}
          />
        </div>
      </div>
      <NewQueryDialog
        opened={naming}
        onClose={() => setNaming(false)}
        project={project}
        title="Make a query of it"
        content={{ sql: current.sql, ...(slots.isCurrent && { slots: slots.schema }) }}
      />
    </>
  )
}

/** The slots and tables of the SQL, a moment after it was typed. */
function useSlots(
  projectId: string,
  sql: string,
): {
  schema: SlotsSchema
  /** Whether it is of the SQL as it stands; what is newer the server reads by itself. */
  isCurrent: boolean
  reads: string
  mistake: ReturnType<typeof mistakeOf>
} {
  const [settled] = useDebouncedValue(sql, 400)
  const inspection = useQuery({
    queryKey: ['projects', projectId, 'inspection', 'scratch', settled],
    enabled: settled.trim() !== '',
    queryFn: ({ signal }) => inspect(projectId, { sql: settled, slots: noSlots }, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const tables = Object.keys(inspection.data?.tables ?? {})
  return {
    schema: inspection.data?.slots ?? noSlots,
    isCurrent: settled === sql && inspection.data !== undefined && !inspection.isPlaceholderData,
    reads: inspection.data === undefined ? '' : tables.length === 0 ? 'Reads no table' : `Reads ${tables.join(', ')}`,
    mistake: mistakeOf(inspection.error),
  }
}

function ScratchTabs({ scratches, onChange }: { scratches: Scratches; onChange: () => void }) {
  const { tabs, current } = scratches
  return (
    <Group gap="xs" mb="sm" wrap="nowrap" className={classes.tabs ?? ''}>
      <Tabs
        value={current.id}
        onChange={(id) => {
          if (id === null) return
          onChange()
          scratches.show(id)
        }}
        variant="outline"
      >
        <Tabs.List aria-label="Scratch tabs">
          {tabs.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <Tooltip label="Another tab">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Add a tab"
          disabled={!scratches.canAdd}
          onClick={() => {
            onChange()
            scratches.add('')
          }}
        >
          <Plus size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={`Close ${current.name}`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Close ${current.name}`}
          onClick={() => {
            onChange()
            scratches.close(current.id)
          }}
        >
          <X size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}

type Ran = { isPending: boolean; stopped: boolean; error: Error | null; answer: Preview | undefined }

function ScratchResult({ run: { isPending, stopped, error, answer }, storageKey }: { run: Ran; storageKey: string }) {
  const shown = useComeIntoView<HTMLElement>(answer)
  if (error !== null) return <RefusalNotice error={error} />
  if (answer === undefined) {
    return (
      <Text c="dimmed" aria-live="polite">
        {isPending ? (
          <Waiting size="xs" says="Running" />
        ) : stopped ? (
          'Cancelled. Run starts it again.'
        ) : (
          'Run shows the rows here.'
        )}
      </Text>
    )
  }
  return (
    <section ref={shown} aria-label="Result" aria-busy={isPending}>
      <div className={queryClasses.facts} aria-live="polite">
        <span>{sayTime(answer.execution_time_ms)}</span>
        {answer.as_of !== null && (
          <span>
            data fetched <Ago at={answer.as_of} />
          </span>
        )}
        {answer.truncated && <span>only the first rows: there are more</span>}
      </div>
      <DataGrid
        label="Rows of the result"
        columns={answer.columns}
        rows={answer.data}
        storageKey={storageKey}
        download={{ name: 'result' }}
      />
    </section>
  )
}
