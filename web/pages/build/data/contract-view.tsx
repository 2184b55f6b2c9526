import { Button, Group, Radio, Select, Stack, Switch, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { Card } from '../../../parts/text/card.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { sayType } from '../../../text/words.ts'
import { buildKeys, useTableSchema } from '../shared/asked.ts'
import type { ChangeTableSchema, Datasource, TableSchema } from '../shared/wire.ts'
import { ChecksFields } from './checks-fields.tsx'
import {
  addedColumn,
  changesOf,
  draftOf,
  isAhead,
  mismatchChoices,
  onLoadChoices,
  typeChoices,
  type ColumnDraft,
  type ContractDraft,
} from './contract.ts'
import classes from './contract.module.css'

/** The contract of the table, and what happens to data that does not keep it. */
export function ContractView({ project, source, onRefresh }: Omit<FormProps, 'schema'>) {
  const schema = useTableSchema(project.id, source.id)
  return (
    <Loaded query={schema}>
      {/* A saved contract comes back as its own starting point. */}
      {(found) => (
        <ContractForm
          key={JSON.stringify(found)}
          project={project}
          source={source}
          schema={found}
          onRefresh={onRefresh}
        />
      )}
    </Loaded>
  )
}

type FormProps = { project: Project; source: Datasource; schema: TableSchema; onRefresh: () => void }

function ContractForm({ project, source, schema, onRefresh }: FormProps) {
  const [draft, setDraft] = useState(() => draftOf(schema))
  const client = useQueryClient()
  const disabled = project.role === 'viewer'
  const path = `/v1/projects/${project.id}/datasources/${source.id}`
  const save = useAct(
    async (changes: ChangeTableSchema) => {
      const saved = await call<TableSchema>('PATCH', `${path}/schema`, { body: changes })
      client.setQueryData(buildKeys.schema(project.id, source.id), saved)
    },
    {
      refresh: [thingKeys.objects(project.id), thingKeys.sources(project.id)],
      say: () => `The rules of ${source.table_name} are saved.`,
    },
  )
  const changes = changesOf(schema, draft)
  const change = (part: Partial<ContractDraft>): void => setDraft({ ...draft, ...part })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (changes !== null) save.mutate(changes)
      }}
    >
      <Stack gap="lg">
        {!disabled && <LaterNotice schema={schema} onRefresh={onRefresh} />}
        <ColumnsCard schema={schema} draft={draft} disabled={disabled} onChange={change} />
        <RulesCard draft={draft} disabled={disabled} onChange={change} />
        <Card title="Checks" about="They run before new data serves. Where one fails, the data waits and you are told.">
          <ChecksFields
            checks={draft.checks}
            columns={schema.columns.map(({ name, type }) => ({ name, type: type ?? '' }))}
            disabled={disabled}
            onChange={(checks) => change({ checks })}
          />
        </Card>
        <RefusalNotice error={save.error} />
        {!disabled && (
          <Group gap="sm">
            <Button type="submit" disabled={changes === null} loading={save.isPending}>
              Save the rules
            </Button>
            {changes !== null && (
              <Button variant="default" onClick={() => setDraft(draftOf(schema))}>
                Discard changes
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </form>
  )
}

type ColumnsProps = {
  schema: TableSchema
  draft: ContractDraft
  disabled: boolean
  onChange: (part: Partial<ContractDraft>) => void
}

function ColumnsCard({ schema, draft, disabled, onChange }: ColumnsProps) {
  return (
    <Card
      title="Columns"
      about="What callers read. Hiding and describing holds at once; names, types and On load hold from the next load on."
    >
      <ul className={classes.columns} aria-label="Columns of the table">
        {draft.columns.map((column) => (
          <ColumnFields
            key={column.sourceName}
            column={column}
            stored={schema.columns.find(({ source_name: name }) => name === column.sourceName)}
            disabled={disabled}
            onChange={(part) =>
              onChange({
                columns: draft.columns.map((each) =>
                  each.sourceName === column.sourceName ? { ...each, ...part } : each,
                ),
              })
            }
          />
        ))}
      </ul>
      {!disabled && (
        <AddColumn
          taken={draft.columns.map(({ sourceName }) => sourceName)}
          onAdd={(path) => onChange({ columns: [...draft.columns, addedColumn(path)] })}
        />
      )}
    </Card>
  )
}

/** Says that the data that serves is older than the rules, and fetches it again. */
function LaterNotice({ schema, onRefresh }: Pick<FormProps, 'schema' | 'onRefresh'>) {
  const ahead = schema.columns.filter(isAhead).map(({ name }) => name)
  if (ahead.length === 0) return null
  return (
    <output className={classes.later}>
      <Text>
        {ahead.join(', ')}: the data that serves was fetched before {ahead.length === 1 ? 'this was' : 'these were'}{' '}
        set.
      </Text>
      <Button size="xs" variant="default" onClick={onRefresh}>
        Fetch data
      </Button>
    </output>
  )
}

type ColumnProps = {
  column: ColumnDraft
  stored: TableSchema['columns'][number] | undefined
  disabled: boolean
  onChange: (part: Partial<ColumnDraft>) => void
}

function ColumnFields({ column, stored, disabled, onChange }: ColumnProps) {
  const { sourceName, name, type, hidden, onLoad, description } = column
  return (
    <li className={classes.column} data-hidden={hidden || undefined}>
      <div className={classes.origin}>
        <Text fw={600} className={classes.key ?? ''}>
          {sourceName}
        </Text>
        <Text size="xs" c="dimmed">
          {stored?.live_type === null || stored?.live_type === undefined
            ? 'not in the data yet'
            : `serves as ${sayType(stored.live_type)}`}
        </Text>
      </div>
      <TextInput
        label="Name"
        aria-label={`Name of ${sourceName}`}
        value={name}
        disabled={disabled}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Select
        label="Type"
        aria-label={`Type of ${sourceName}`}
        data={typeChoices(type)}
        value={type}
        disabled={disabled}
        allowDeselect={false}
        onChange={(value) => onChange({ type: value ?? '' })}
      />
      <TextInput
        label="Description"
        spellCheck
        className={classes.about ?? ''}
        aria-label={`Description of ${sourceName}`}
        placeholder="What it means, in which unit"
        value={description}
        disabled={disabled}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      <Select
        label="On load"
        aria-label={`On load of ${sourceName}`}
        data={onLoadChoices}
        value={onLoad}
        disabled={disabled}
        allowDeselect={false}
        onChange={(value) => onChange({ onLoad: onLoadChoices.find((each) => each.value === value)?.value ?? '' })}
      />
      <Switch
        label="Hidden"
        aria-label={`Hide ${sourceName}`}
        checked={hidden}
        disabled={disabled}
        onChange={(event) => onChange({ hidden: event.currentTarget.checked })}
      />
    </li>
  )
}

/** A value inside an object becomes a column of its own. */
function AddColumn({ taken, onAdd }: { taken: string[]; onAdd: (path: string) => void }) {
  const [path, setPath] = useState('')
  const wanted = path.trim()
  const add = (): void => {
    onAdd(wanted)
    setPath('')
  }
  const isReady = wanted !== '' && !taken.includes(wanted)
  return (
    <Group gap="sm" align="end" mt="sm">
      <TextInput
        label="Value inside an object"
        placeholder="supplier.name"
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (isReady) add()
        }}
      />
      <Button variant="default" disabled={!isReady} onClick={add}>
        Add column
      </Button>
    </Group>
  )
}

type RulesProps = { draft: ContractDraft; disabled: boolean; onChange: (part: Partial<ContractDraft>) => void }

function RulesCard({ draft, disabled, onChange }: RulesProps) {
  return (
    <Card title="When data does not fit" about="What happens to a value that is not of its column’s type.">
      <Radio.Group
        label={<VisuallyHidden>When data does not fit</VisuallyHidden>}
        labelProps={{ display: 'block' }}
        value={draft.onMismatch}
        onChange={(value) =>
          onChange({ onMismatch: mismatchChoices.find((each) => each.value === value)?.value ?? 'widen' })
        }
      >
        <Stack gap="sm">
          {mismatchChoices.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} disabled={disabled} />
          ))}
        </Stack>
      </Radio.Group>
      <Switch
        label="Hold data that would break a deployed query"
        description="Off: it serves at once, and callers of that query get errors."
        checked={draft.onBreaking === 'hold'}
        disabled={disabled}
        onChange={(event) => onChange({ onBreaking: event.currentTarget.checked ? 'hold' : 'serve' })}
      />
    </Card>
  )
}
