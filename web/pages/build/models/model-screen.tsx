import { Button, Code, Group, Select, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { overAllRows } from '../../../../api/new-rows.ts'
import { paths } from '../../../browser/paths.ts'
import { call } from '../../../client/api.ts'
import { fieldErrors } from '../../../client/refusals.ts'
import { useStoppable } from '../../../client/queries.ts'
import type { Project } from '../../../client/wire.ts'
import { AskFirst } from '../../../parts/form/confirm.tsx'
import { typed } from '../../../parts/form/typed.ts'
import { DataGrid } from '../../../parts/grid/data-grid.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { inspect } from '../../query/draft/inspect.ts'
import queryClasses from '../../query/edit/query.module.css'
import { noSlots } from '../../query/slots/slots.ts'
import { SqlEditor } from '../../query/sql/sql-editor.tsx'
import { mistakeOf } from '../../query/sql/sql-mistake.ts'
import { TablesList } from '../../query/edit/tables-list.tsx'
import shared from '../shared/build.module.css'
import type { Model, Preview } from '../shared/wire.ts'
import { RowTests } from '../tests/row-tests.tsx'
import { ModelChanges } from './model-changes.tsx'
import { ModelState } from './model-state.tsx'
import { useModelActs } from './use-model-acts.ts'

type Props = { project: Project; model: Model | null; tables: Record<string, string[]> }

const modes = [
  { value: 'replace', label: 'Each build is the whole table' },
  { value: 'merge', label: 'Rows of a build replace those of the same key' },
]
const previewRows = 100
const emptyFields = { name: '', sql: '', description: '', mode: 'replace', keys: [] as string[], schedule: '' }

function fieldsOf({ name, sql, description, load, schedule }: Model): typeof emptyFields {
  const keys = load.primary_key ?? []
  return { name, sql, description, mode: load.mode, keys, schedule: schedule ?? '' }
}

/** The statement of a model with its rows, its settings, and what a change of it moves. */
export function ModelScreen({ project, model, tables }: Props) {
  const [, navigate] = useLocation()
  const isEditor = project.role !== 'viewer'
  const saved = model === null ? emptyFields : fieldsOf(model)
  const [fields, setFields] = useState(saved)
  const edit = (part: Partial<typeof emptyFields>): void => setFields({ ...fields, ...part })
  const { name, sql, description, mode, keys, schedule } = fields
  const look = useStatement(project.id, sql)
  const acts = useModelActs(project, model)
  const preview = usePreview(project.id, sql)
  const isChanged = JSON.stringify(fields) !== JSON.stringify(saved)
  const wrong = acts.save.error === null ? {} : fieldErrors(acts.save.error)
  const load = mode === 'merge' ? { mode: 'merge' as const, primary_key: keys } : { mode: 'replace' as const }
  const kept = { keep_versions: model?.keep_versions ?? 5, tags: model?.tags ?? [] }
  const times = {
    schedule: schedule.trim() === '' ? null : schedule.trim(),
    schedule_time_zone: model?.schedule_time_zone ?? 'UTC',
  }
  const save = (force = false): void =>
    acts.save.mutate(
      { name, sql, description, load, ...times, ...kept, ...(force && { force }) },
      { onSuccess: (made) => navigate(paths.model(project.id, made.name), { replace: true }) },
    )
  return (
    <>
      <Heading
        title={model?.name ?? 'New model'}
        within={project.name}
        action={
          isEditor ? (
            <Acts project={project} model={model} acts={acts} isChanged={isChanged} onSave={() => save()} />
          ) : undefined
        }
      >
        {model === null ? (
          'A table that one SELECT builds from other tables. Queries read it like any table.'
        ) : (
          <>
            The table <Link href={paths.table(project.id, model.name)}>{model.name}</Link>, built from{' '}
            {model.reads.join(', ') || 'no table'}.
          </>
        )}
      </Heading>
      <Stack gap="md" mb="md">
        {model !== null && <ModelState project={project} model={model} />}
        <RefusalNotice
          error={acts.save.error ?? acts.rebuild.error}
          fields={Object.keys(wrong)}
          anyway={{ verb: 'Save anyway', act: () => save(true) }}
        />
      </Stack>
      <div className={queryClasses.work}>
        <Statement
          {...{ sql, tables, look, isEditor }}
          onChange={(next) => edit({ sql: next })}
          onRun={() => preview.mutate()}
        />
        <div className={queryClasses.side}>
          <ModelFields isNew={model === null} isEditor={isEditor} {...{ fields, edit, wrong }} columns={look.columns} />
          <TablesList projectId={project.id} onInsert={null} />
        </div>
        <Outcome project={project} model={model} name={name} sql={sql} isEditor={isEditor} {...{ preview, acts }} />
      </div>
    </>
  )
}

type StatementProps = {
  sql: string
  tables: Record<string, string[]>
  look: ReturnType<typeof useStatement>
  isEditor: boolean
  onChange: (sql: string) => void
  onRun: () => void
}

function Statement({ sql, tables, look, isEditor, onChange, onRun }: StatementProps) {
  return (
    <div className={`${shared.panel} ${queryClasses.sql}`}>
      <SqlEditor
        value={sql}
        onChange={onChange}
        onRun={onRun}
        tables={tables}
        slots={[]}
        mistake={look.mistake}
        readOnly={!isEditor}
      />
      <div className={queryClasses.below} aria-live="polite">
        <Text size="xs" c={look.mistake === null ? 'dimmed' : 'var(--sluice-danger)'}>
          {look.mistake?.message ?? look.says}
        </Text>
      </div>
    </div>
  )
}

type FieldsProps = {
  isNew: boolean
  isEditor: boolean
  fields: typeof emptyFields
  edit: (part: Partial<typeof emptyFields>) => void
  wrong: Record<string, string>
  columns: string[]
}

function ModelFields({ isNew, isEditor, fields, edit, wrong, columns }: FieldsProps) {
  const text = typed(fields, edit)
  return (
    <Stack gap="sm" className={`${shared.panel} ${queryClasses.slots}`}>
      {isNew && (
        <TextInput
          label="Name"
          description="What SQL reads: small letters, digits and _."
          {...text('name')}
          error={wrong['name']}
        />
      )}
      <Textarea label="Description" autosize minRows={1} maxRows={6} readOnly={!isEditor} {...text('description')} />
      <Select
        label="Builds"
        data={modes}
        value={fields.mode}
        disabled={!isEditor}
        onChange={(next) => edit({ mode: next ?? 'replace' })}
      />
      {fields.mode === 'merge' && (
        <TagsInput
          label="Primary key"
          description="Columns that tell its rows apart."
          data={columns}
          value={fields.keys}
          error={wrong['load.primary_key']}
          onChange={(next) => edit({ keys: next })}
        />
      )}
      <TextInput
        label="Schedule"
        description="Cron. Empty: whenever a table that it reads has new data."
        placeholder="0 6 * * *"
        readOnly={!isEditor}
        {...text('schedule')}
        error={wrong['schedule']}
      />
    </Stack>
  )
}

type OutcomeProps = {
  project: Project
  model: Model | null
  name: string
  sql: string
  isEditor: boolean
  preview: ReturnType<typeof usePreview>
  acts: ReturnType<typeof useModelActs>
}

/** Its rows, what a change moves, and its tests. */
function Outcome({ project, model, name, sql, isEditor, preview, acts }: OutcomeProps) {
  return (
    <div className={queryClasses.outcome}>
      {isEditor && (
        <Group gap="xs" mb="sm">
          <Button
            variant="default"
            loading={preview.isPending}
            disabled={sql.trim() === ''}
            onClick={() => preview.mutate()}
          >
            Preview
          </Button>
          {model !== null && (
            <Button
              variant="default"
              loading={acts.compare.isPending}
              disabled={sql === model.sql}
              onClick={() => acts.compare.mutate(sql)}
            >
              Compare with what serves
            </Button>
          )}
        </Group>
      )}
      <RefusalNotice error={preview.error ?? acts.compare.error} />
      {acts.compare.data !== undefined && <ModelChanges found={acts.compare.data} />}
      {model !== null && <RowTests project={project} tested={{ kind: 'model', name: model.name, sql }} />}
      {preview.data !== undefined && (
        <section aria-label="Preview">
          <DataGrid
            label="Rows of the model"
            columns={preview.data.columns}
            rows={preview.data.data}
            download={{ name: name || 'model' }}
          />
        </section>
      )}
    </div>
  )
}

type Acting = {
  project: Project
  model: Model | null
  acts: ReturnType<typeof useModelActs>
  isChanged: boolean
  onSave: () => void
}

function Acts({ model, acts, isChanged, onSave }: Acting) {
  return (
    <Group gap="sm">
      {model !== null && (
        <>
          <AskFirst
            renderButton={(ask) => (
              <Button variant="default" c="var(--sluice-danger)" onClick={ask}>
                Delete
              </Button>
            )}
            verb={`Delete ${model.name}`}
            typed={model.name}
            act={acts.remove}
          >
            The table <Code>{model.name}</Code> goes with every version of its data.
            {model.read_by.length > 0 && ` The models ${model.read_by.join(', ')} read it.`}
          </AskFirst>
          <Button variant="default" loading={acts.rebuild.isPending} onClick={() => acts.rebuild.mutate()}>
            Rebuild
          </Button>
        </>
      )}
      <Button loading={acts.save.isPending} disabled={!isChanged} onClick={onSave}>
        {model === null ? 'Create and build' : 'Save and build'}
      </Button>
    </Group>
  )
}

function usePreview(projectId: string, sql: string) {
  return useStoppable((_input: void, signal) => {
    const body = { sql: overAllRows(sql), parameters: {}, max_rows: previewRows }
    return call<Preview>('POST', `/v1/projects/${projectId}/queries/run`, { body, signal, timeoutMs: 120_000 })
  })
}

/** The tables and columns of the statement, a moment after it was typed. A model has no slots: nobody calls it. */
function useStatement(projectId: string, sql: string) {
  const [settled] = useDebouncedValue(sql, 400)
  const inspection = useQuery({
    queryKey: ['projects', projectId, 'inspection', 'model', settled],
    enabled: settled.trim() !== '',
    queryFn: ({ signal }) => inspect(projectId, { sql: overAllRows(settled), slots: noSlots }, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const reads = Object.keys(inspection.data?.tables ?? {})
  const slots = Object.keys(inspection.data?.slots.properties ?? {})
  const columns = (inspection.data?.columns ?? []).map(({ name }) => name)
  const says =
    inspection.data === undefined
      ? ''
      : slots.length > 0
        ? `A model has no slots: take out $${slots[0]}.`
        : reads.length === 0
          ? 'Reads no table'
          : `Reads ${reads.join(', ')}`
  return { mistake: mistakeOf(inspection.error), columns, says }
}
