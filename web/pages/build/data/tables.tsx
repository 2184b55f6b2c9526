import { Button } from '@mantine/core'
import { Database } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/empty.tsx'
import { Heading } from '../../../parts/heading.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Growing } from '../../../parts/more.tsx'
import { Ago } from '../../../parts/time.tsx'
import { paths } from '../../../paths.ts'
import { newestRows, useDatasources, useObjects } from '../../../things.ts'
import type { Project } from '../../../wire.ts'
import shared from '../build.module.css'
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
          const tables = [...newestRows(list).values()].sort((one, other) =>
            one.table_name.localeCompare(other.table_name),
          )
          if (tables.length === 0) {
            return (
              <Empty
                icon={<Database size={20} />}
                action={
                  <Button component={Link} href={paths.connections(project.id)}>
                    Go to connections
                  </Button>
                }
              >
                There is no table yet. Executing a connection makes one.
              </Empty>
            )
          }
          return (
            <Growing items={tables} what="tables">
              {(shown) => (
                <div className={shared.panel}>
                  <table className={shared.table}>
                    <thead>
                      <tr>
                        <th scope="col">Table</th>
                        <th scope="col">From</th>
                        <th scope="col" data-end>
                          Rows
                        </th>
                        <th scope="col" data-end>
                          Columns
                        </th>
                        <th scope="col" data-end>
                          Size
                        </th>
                        <th scope="col">As of</th>
                      </tr>
                    </thead>
                    <tbody>
                      {shown.map((table) => (
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
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
            </Growing>
          )
        }}
      </Loaded>
    </>
  )
}
