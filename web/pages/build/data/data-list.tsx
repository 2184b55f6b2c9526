import { Button, Group, Text } from '@mantine/core'
import { Boxes, Database, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { List, NameCell, type Column, type Order } from '../../../parts/table/list.tsx'
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
  const [order, onOrder] = useState<Order>({ name: 'Table', down: false })
  const { shown, field } = useSorting(sources, ({ name, table_name: table }) => `${table} ${name}`)
  return (
    <>
      {field}
      {shown.length === 0 ? (
        <NoneFound what="table" />
      ) : (
        <List
          label="Data"
          items={shown}
          what="tables"
          keyOf={({ id }) => id}
          order={order}
          onOrder={onOrder}
          opens
          columns={columnsOf(project, served)}
        />
      )}
    </>
  )
}

function columnsOf(project: Project, served: Map<string, DataObject>): Array<Column<Datasource>> {
  return [
    {
      label: 'Table',
      whole: true,
      by: ({ table_name: table }) => table,
      cell: ({ id, table_name: table, tags, last_error: error }) => (
        <NameCell
          href={served.has(id) ? paths.table(project.id, table) : null}
          name={table}
          isCode
          marks={<TagList tags={tags} />}
          about={error === null ? '' : <span className={shared.trouble}>{error.message}</span>}
        />
      ),
    },
    {
      label: 'From',
      by: ({ name }) => name,
      // A model is called as its table.
      cell: ({ id, kind, name, table_name: table }) => (
        <Link href={kind === 'model' ? paths.model(project.id, table) : paths.connection(project.id, id)}>
          {kind === 'model' ? 'Model' : name}
        </Link>
      ),
    },
    { label: 'Status', cell: (source) => <SourceStatus source={source} /> },
    {
      label: 'Rows',
      figure: true,
      by: ({ id }) => served.get(id)?.row_count ?? null,
      cell: ({ id }) => {
        const count = served.get(id)?.row_count ?? null
        return count === null ? null : sayNumber(count)
      },
    },
    {
      label: 'As of',
      by: ({ id }) => served.get(id)?.created_at ?? null,
      cell: ({ id }) => {
        const at = served.get(id)?.created_at
        return at === undefined ? null : <Ago at={at} />
      },
    },
    {
      label: 'Fetch again',
      cell: (source) => (
        <Text component="span" c="dimmed" className={shared.schedule ?? ''}>
          {sayAgain(source)}
        </Text>
      ),
    },
  ]
}

/** A model is built when a table that it reads changes, unless it has a schedule besides. */
function sayAgain({ kind, schedule }: Datasource): string {
  if (kind === 'file') return 'By upload'
  return kind === 'model' && schedule === null ? 'After its tables' : saySchedule(schedule)
}
