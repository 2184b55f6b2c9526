import { useQuery } from '@tanstack/react-query'
import { call } from '../../../client/api.ts'
import { servedRows, useObjects } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { Loaded } from '../../../parts/text/loaded.tsx'
import type { Model } from '../shared/wire.ts'
import { ModelScreen } from './model-screen.tsx'
import { modelKey } from './use-model-acts.ts'

/** A model that is there, or a new one without a name. */
export function ModelPage({ project, name }: { project: Project; name: string | null }) {
  const objects = useObjects(project.id)
  const model = useQuery({
    queryKey: modelKey(project.id, name ?? ''),
    queryFn: ({ signal }) =>
      name === null ? null : call<Model>('GET', `/v1/projects/${project.id}/models/${name}`, { signal }),
  })
  return (
    <Loaded query={{ ...model, error: model.error ?? objects.error }}>
      {(found) => {
        const tables = Object.fromEntries(
          [...servedRows(objects.data ?? []).values()]
            .filter(({ table_name: table }) => table !== name)
            .map(({ table_name: table, columns }) => [table, (columns ?? []).map((column) => column.name)]),
        )
        return <ModelScreen key={found?.id ?? 'new'} project={project} model={found} tables={tables} />
      }}
    </Loaded>
  )
}
