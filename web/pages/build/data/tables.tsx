import { Button } from '@mantine/core'
import { Database } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/empty.tsx'
import { Heading } from '../../../parts/heading.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Ago } from '../../../parts/time.tsx'
import { paths } from '../../../paths.ts'
import { servedRows, useDatasources, useObjects } from '../../../things.ts'
import type { Project } from '../../../wire.ts'
import shared from '../build.module.css'
import { ListTable } from '../list-table.tsx'
import { sayNumber, saySize } from '../../../words.ts'

export function TablesSection({ project }: { project: Project }) {
  const objects = useObjects(project.id)
  const sources = useDatasources(project.id)
  return (
    <>
      <Heading title="Data" within={project.name}>
        The tables that queries read, each with the newest data of its connection.
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
          return (
            <ListTable
              items={tables}
              what="tables"
              head={['Table', 'From', { figures: 'Rows' }, { figures: 'Columns' }, { figures: 'Size' }, 'As of']}
            >
              {(table) => (
                <tr key={table.id}>
                  <td>
                    <Link href={paths.table(project.id, table.table_name)} className={shared.name}>
                      {table.table_name}
                    </Link>
                  </td>
                  <td>
                    <Link href={paths.connection(project.id, table.datasource_id)}>
                      {sources.data?.find(({ id }) => id === table.datasource_id)?.name ?? 'its connection'}
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
          )
        }}
      </Loaded>
    </>
  )
}
