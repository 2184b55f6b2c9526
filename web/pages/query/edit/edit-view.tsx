import { Badge, Button, Group, Kbd, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { FlaskConical, MessageCircleQuestion, Rocket, Save, Settings2 } from 'lucide-react'
import { startTransition, useRef, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { paths } from '../../../browser/paths.ts'
import { saveEdit } from '../../../browser/saved-edits.ts'
import { servedRows, useObjects } from '../../../client/things.ts'
import { useUser } from '../../../client/queries.ts'
import { Heading } from '../../../parts/text/heading.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import shared from '../../build/shared/build.module.css'
import type { Query } from '../../build/shared/wire.ts'
import { useQueryDraft, type QueryDraft } from '../draft/use-query-draft.ts'
import { QueryHeader, type Shown } from '../header/header.tsx'
import { NewQueryDialog } from '../header/new-query-dialog.tsx'
import { SqlEditor } from '../sql/sql-editor.tsx'
import { Drawer, type Drawn } from './drawer.tsx'
import { GoneSlots } from './gone-slots.tsx'
import { PastRuns } from './past-runs.tsx'
import classes from './query.module.css'
import { Result } from './result.tsx'
import { SlotsStrip } from './slots-strip.tsx'
import { Split } from './split.tsx'
import { TablesList } from './tables-list.tsx'

type Props = Omit<Shown, 'query'> & {
  /** Null where it has no name yet. */
  query: Query | null
  /** The table that a new query begins with. */
  table?: string
}

/** Tables on the left, the SQL over its rows, and what helps questions to find it in a drawer. */
export function EditView({ query, table = '', ...shown }: Props) {
  const { project } = shown.place
  const draft = useQueryDraft(project, query, table)
  const { content, editor, run } = draft
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  const insert = useRef<((text: string) => void) | null>(null)
  const objects = useObjects(project.id)
  const tables = Object.fromEntries(
    [...servedRows(objects.data ?? []).values()].map(({ table_name: name, columns }) => [
      name,
      (columns ?? []).map((column) => column.name),
    ]),
  )
  useHotkeys([['mod+Enter', () => editor && run.mutate()]], [])
  return (
    <>
      {query === null ? (
        <NewHeader {...shown} table={table} draft={draft} />
      ) : (
        <SavedHeader {...shown} query={query} draft={draft} />
      )}
      <RefusalNotice error={draft.save.error} />
      {editor && <GoneSlots draft={draft} />}
      <div className={classes.desk} data-drawn={drawn !== null || undefined}>
        <TablesList projectId={project.id} onInsert={editor ? (text) => insert.current?.(text) : null} />
        <div className={classes.centre}>
          <Split top={<Editor draft={draft} tables={tables} insert={insert} />}>
            <SlotsStrip
              project={project}
              draft={draft}
              tables={tables}
              end={
                <DrawerButtons
                  drawn={drawn}
                  isSaved={query !== null}
                  count={content.examples.length}
                  onDraw={setDrawn}
                />
              }
            />
          </Split>
          {editor && <Result draft={draft} />}
          {editor && (
            <PastRuns runs={draft.past.runs} onTake={(sql) => draft.take({ sql })} onForget={draft.past.forget} />
          )}
        </div>
        {drawn !== null && (
          <Drawer project={project} query={query} draft={draft} drawn={drawn} onClose={() => setDrawn(null)} />
        )}
      </div>
    </>
  )
}

type Acting = Omit<Shown, 'query'> & { draft: QueryDraft }

/** Name, state and acts of a query that is there, with those of its draft. */
function SavedHeader({ query, draft, ...shown }: Acting & { query: Query }) {
  const isAsked = new URLSearchParams(useSearch()).has('deploy')
  return (
    <QueryHeader
      {...shown}
      query={query}
      isEdited={draft.dirty}
      isDeploying={isAsked}
      canDeploy={draft.mistake === null}
      beforeDeploy={(goOn) => (draft.dirty ? draft.save.mutate(undefined, { onSuccess: goOn }) : goOn())}
      acts={<SaveActs draft={draft} verb="Save draft" disabled={!draft.dirty} onSave={() => draft.save.mutate()} />}
    />
  )
}

type SaveProps = { draft: QueryDraft; verb: string; disabled: boolean; onSave: () => void }

/** Buttons that save the draft or throw its changes away. */
function SaveActs({ draft, verb, disabled, onSave }: SaveProps) {
  return (
    <>
      {draft.dirty && (
        <Button variant="default" onClick={draft.discard}>
          Discard changes
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<Save size={16} aria-hidden />}
        disabled={disabled}
        loading={draft.save.isPending}
        onClick={onSave}
      >
        {verb}
      </Button>
    </>
  )
}

/** A query without a name: saving and deploying ask for one. */
function NewHeader({ place: { project, editor }, draft, table }: Acting & { table: string }) {
  const [, navigate] = useLocation()
  const editKey = `sluice-draft ${useUser().id} ${project.id} new ${table}`
  const [naming, setNaming] = useState<'save' | 'deploy' | null>(null)
  return (
    <>
      <Heading
        title="New query"
        within={project.name}
        action={
          editor ? (
            <Group gap="xs">
              <SaveActs draft={draft} verb="Save…" disabled={draft.mistake !== null} onSave={() => setNaming('save')} />
              <Button
                leftSection={<Rocket size={16} aria-hidden />}
                disabled={draft.mistake !== null}
                onClick={() => setNaming('deploy')}
              >
                Deploy…
              </Button>
            </Group>
          ) : undefined
        }
      >
        {editor
          ? 'Not saved yet: try SQL over your tables, and name what is good.'
          : 'You are a viewer here: an editor writes and runs SQL.'}
      </Heading>
      <NewQueryDialog
        project={project}
        opened={naming !== null}
        onClose={() => setNaming(null)}
        title="Save the query"
        content={draft.content}
        then={(name) => {
          saveEdit(editKey, 'new', null)
          navigate(`${paths.query(project.id, name)}${naming === 'deploy' ? '?deploy' : ''}`)
        }}
      />
    </>
  )
}

type EditorProps = {
  draft: QueryDraft
  tables: Record<string, string[]>
  insert: React.RefObject<((text: string) => void) | null>
}

function Editor({ draft, tables, insert }: EditorProps) {
  const { content, change, editor, run, mistake } = draft
  return (
    <div className={`${shared.panel} ${classes.sql}`}>
      <SqlEditor
        key={draft.generation}
        value={content.sql}
        // The editor has drawn it already; the rest may follow when there is time.
        onChange={(sql) => startTransition(() => change({ sql }))}
        onRun={() => run.mutate()}
        tables={tables}
        slots={Object.keys(content.slots.properties)}
        mistake={mistake}
        readOnly={!editor}
        insert={insert}
      />
      <div className={classes.below} aria-live="polite">
        <Text size="xs" c={mistake === null ? 'dimmed' : 'var(--sluice-danger)'}>
          {mistake === null ? readsOf(draft) : mistake.message}
          {mistake !== null && mistake.line !== null && ` (line ${mistake.line}, column ${mistake.column})`}
        </Text>
        <Text size="xs" c="dimmed" className={classes.hint ?? ''} aria-hidden>
          <Kbd size="xs">Esc</Kbd> <Kbd size="xs">Tab</Kbd> leaves the editor
        </Text>
      </div>
    </div>
  )
}

function readsOf({ inspection: { data } }: QueryDraft): string {
  if (data === undefined) return ''
  const tables = Object.keys(data.tables)
  const columns = data.columns.map(({ name }) => name).join(', ')
  return `${tables.length === 0 ? 'Reads no table' : `Reads ${tables.join(', ')}`}; gives ${columns}`
}

type ButtonsProps = { drawn: Drawn | null; isSaved: boolean; count: number; onDraw: (drawn: Drawn | null) => void }

function DrawerButtons({ drawn, isSaved, count, onDraw }: ButtonsProps) {
  const toggle = (which: Drawn): void => onDraw(drawn === which ? null : which)
  return (
    <>
      {isSaved && (
        <Button
          variant="default"
          px="sm"
          aria-expanded={drawn === 'questions'}
          leftSection={<MessageCircleQuestion size={16} aria-hidden />}
          rightSection={
            count > 0 && (
              <Badge variant="default" size="sm" radius="sm" className="numbers">
                {count}
              </Badge>
            )
          }
          onClick={() => toggle('questions')}
        >
          Example questions
        </Button>
      )}
      {isSaved && (
        <Button
          variant="default"
          px="sm"
          aria-expanded={drawn === 'tests'}
          leftSection={<FlaskConical size={16} aria-hidden />}
          onClick={() => toggle('tests')}
        >
          Tests
        </Button>
      )}
      <Button
        variant="default"
        px="sm"
        aria-expanded={drawn === 'settings'}
        leftSection={<Settings2 size={16} aria-hidden />}
        onClick={() => toggle('settings')}
      >
        Settings
      </Button>
    </>
  )
}
