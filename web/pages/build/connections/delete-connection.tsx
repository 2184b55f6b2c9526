import { Code } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { DeleteButton } from '../../../parts/form/delete-button.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import type { Datasource } from '../shared/wire.ts'

export function DeleteConnection({ project, source }: { project: Project; source: Datasource }) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `/v1/projects/${project.id}/datasources/${source.id}`)
      // The list is where one goes next: it must not show it for as long as it is asked for anew.
      client.setQueryData<Datasource[]>(thingKeys.sources(project.id), (known) =>
        known?.filter(({ id }) => id !== source.id),
      )
      navigate(paths.connections(project.id))
    },
    {
      refresh: [thingKeys.sources(project.id), thingKeys.objects(project.id)],
      say: () => `${source.name} is deleted.`,
    },
  )
  return (
    <DeleteButton name={source.name} typed={source.table_name} act={remove}>
      The table <Code>{source.table_name}</Code> goes with every version of its data. This cannot be undone.
    </DeleteButton>
  )
}
