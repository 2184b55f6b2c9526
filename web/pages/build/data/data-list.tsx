import { Button, Group, Text } from '@mantine/core'
import { Boxes, Database, Plus } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { servedRows, useDatasources, useObjects } from '../../../client/things.ts'
import type { DataObject, Datasource, Project } from '../../../client/wire.ts'
import { sayNumber, saySchedule } from '../../../text/words.ts'
import shared from '../shared/build.module.css'
import { ConnectButtons } from '../shared/connect-buttons.tsx'
import { ListTable } from '../shared/list-table.tsx'
import { SourceStatus } from '../shared/source-status.tsx'
import { NoneFound, TagList, useSorting } from '../shared/tags.tsx'

/** Tables with where they come from: connections and files bring them in, models are built from others. */
export function DataSection({ project }: { project: Project }) {
  const sources = useDatasources(project.id)
  const objects = useObjects(project.id)
  const editor = project.role !== 'viewer'
  const acts = (
    <Group gap="xs">
      <Button
        component={Link}
        href={paths.newModel(project.id)}
        variant="default"
        leftSection={<Boxes size={16} aria-hidden />}
      >
        New model
      </Button>
      <Button component={Link} href={paths.catalog(project.id)} leftSection={<Plus size={16} aria-hidden />}>
        Connect
      </Button>
    </Group>
  )
  return (
    <>
      <Heading title="Data" within={project.name} action={editor && (sources.data ?? []).length > 0 ? acts : undefined}>
        The tables that queries read: the newest data of each connection, files, and models built from them.
      </Heading>
      <Loaded query={sources}>
        {(list) =>
          list.length === 0 ? (
            <Empty
              icon={<Database size={20} />}
              guide="connect-an-api"
              action={editor && <ConnectButtons project={project} />}
            >
              There is no table yet.{' '}
              {editor
                ? 'Connect an API or upload a file, and its rows become one.'
                : 'You are a viewer here. An editor connects the first API.'}
            </Empty>
          ) : (
            <DataList project={project} sources={list} served={servedRows(objects.data ?? [])} />
          )
        }
      </Loaded>
    </>
  )
}

type ListProps = { project: Project; sources: Datasource[]; served: Map<string, DataObject> }

function DataList({ project, sources, served }: ListProps) {
  const sorted = sources.toSorted((one, other) => one.table_name.localeCompare(other.table_name))
  const { shown, field } = useSorting(sorted, ({ name, table_name: table }) => `${table} ${name}`)
  return (
    <>
      {field}
      {shown.length === 0 ? (
        <NoneFound what="table" />
      ) : (
        <ListTable
          label="Data"
          items={shown}
          what="tables"
          head={['Table', 'From', 'Status', { figures: 'Rows' }, 'As of', 'Fetch again']}
        >
          {(source) => <Line key={source.id} project={project} source={source} rows={served.get(source.id)} />}
        </ListTable>
      )}
    </>
  )
}

type LineProps = { project: Project; source: Datasource; rows: DataObject | undefined }

function Line({ project, source, rows }: LineProps) {
  const { name, kind, table_name: table, tags, last_error: error } = source
  const from = kind === 'model' ? paths.model(project.id, table) : paths.connection(project.id, source.id)
  return (
    <tr>
      <td>
        {rows === undefined ? (
          <Text component="span" fw={600} c="dimmed">
            {table}
          </Text>
        ) : (
          <Link href={paths.table(project.id, table)} className={shared.name}>
            {table}
          </Link>
        )}{' '}
        <TagList tags={tags} />
        {error !== null && (
          <Text size="xs" c="var(--sluice-danger)">
            {error.message}
          </Text>
        )}
      </td>
      <td>
        {/* A model is called as its table. */}
        <Link href={from}>{kind === 'model' ? 'Model' : name}</Link>
      </td>
      <td>
        <SourceStatus source={source} />
      </td>
      <td data-end data-unit="rows">
        {rows?.row_count !== undefined && rows.row_count !== null && sayNumber(rows.row_count)}
      </td>
      <td>{rows !== undefined && <Ago at={rows.created_at} />}</td>
      <td>
        <Text component="span" c="dimmed" className={shared.schedule ?? ''}>
          {sayAgain(source)}
        </Text>
      </td>
    </tr>
  )
}

/** A model is built when a table that it reads changes, unless it has a schedule besides. */
function sayAgain({ kind, schedule }: Datasource): string {
  if (kind === 'file') return 'By upload'
  return kind === 'model' && schedule === null ? 'After its tables' : saySchedule(schedule)
}
