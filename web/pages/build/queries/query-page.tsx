import { Loaded } from '../../../parts/text/loaded.tsx'
import { servedRows, useObjects } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { useQueryNamed } from '../shared/asked.ts'
import { QueryScreen } from './query-screen.tsx'

export function QueryPage({ project, name }: { project: Project; name: string }) {
  const query = useQueryNamed(project.id, name)
  const objects = useObjects(project.id)
  const tables = Object.fromEntries(
    [...servedRows(objects.data ?? []).values()].map(({ table_name: table, columns }) => [
      table,
      (columns ?? []).map((column) => column.name),
    ]),
  )
  return <Loaded query={query}>{(found) => <QueryScreen project={project} query={found} tables={tables} />}</Loaded>
}
