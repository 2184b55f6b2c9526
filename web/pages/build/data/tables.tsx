import { Button } from '@mantine/core'
import { Database, Plus } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { servedRows, useDatasources, useObjects } from '../../../client/things.ts'
import type { DataObject, Datasource, Project } from '../../../client/wire.ts'
import shared from '../shared/build.module.css'
import { ListTable } from '../shared/list-table.tsx'
import { NoneFound, TagList, useSorting } from '../shared/tags.tsx'
import { sayNumber, saySize } from '../../../text/words.ts'

export function TablesSection({ project }: { project: Project }) {
  const objects = useObjects(project.id)
  const sources = useDatasources(project.id)
  return (
    <>
      <Heading
        title="Data"
        within={project.name}
        action={
          project.role !== 'viewer' && (objects.data ?? []).length > 0 ? (
            <Button component={Link} href={paths.newModel(project.id)} leftSection={<Plus size={16} aria-hidden />}>
              New model
            </Button>
          ) : undefined
        }
      >
        The tables that queries read: the newest data of each connection, and models built from them.
      </Heading>
      <Loaded query={objects}>
        {(list) => {
          const tables = [...servedRows(list).values()].sort((one, other) =>
            one.table_name.localeCompare(other.table_name),
          )
          if (tables.length === 0) {
            return (
              <Empty
                icon={<Database size={20} />}
                guide="connect-an-api"
                action={
                  <Button component={Link} href={paths.connections(project.id)}>
                    Go to connections
                  </Button>
                }
              >
                There is no table yet. Fetching the data of a connection makes one.
              </Empty>
            )
          }
          return <TableList project={project} tables={tables} sources={sources.data ?? []} />
        }}
      </Loaded>
    </>
  )
}

type ListProps = { project: Project; tables: DataObject[]; sources: Datasource[] }

function TableList({ project, tables, sources }: ListProps) {
  const sourceOf = (table: DataObject): Datasource | undefined => sources.find(({ id }) => id === table.datasource_id)
  const tagged = tables.map((table) => ({ ...table, tags: sourceOf(table)?.tags ?? [] }))
  const { shown, field } = useSorting(tagged, ({ table_name: name }) => name)
  return (
    <>
      {field}
      {shown.length === 0 ? (
        <NoneFound what="table" />
      ) : (
        <ListTable
          label="Tables"
          items={shown}
          what="tables"
          head={['Table', 'From', { figures: 'Rows' }, { figures: 'Columns' }, { figures: 'Size' }, 'As of']}
        >
          {(table) => (
            <tr key={table.id}>
              <td>
                <Link href={paths.table(project.id, table.table_name)} className={shared.name}>
                  {table.table_name}
                </Link>{' '}
                <TagList tags={table.tags} />
              </td>
              <td>
                <Link href={paths.connection(project.id, table.datasource_id)}>
                  {sourceOf(table)?.name ?? 'its connection'}
                </Link>
              </td>
              <td data-end data-unit="rows">
                {sayNumber(table.row_count ?? 0)}
              </td>
              <td data-end data-unit="columns">
                {table.columns?.length}
              </td>
              <td data-end>{saySize(table.size_bytes)}</td>
              <td>
                <Ago at={table.created_at} />
              </td>
            </tr>
          )}
        </ListTable>
      )}
    </>
  )
}
