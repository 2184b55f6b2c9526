import { Code } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { DeleteButton } from '../../../parts/form/delete-button.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import type { Query } from '../shared/wire.ts'

export function DeleteQuery({ project, query: { name } }: { project: Project; query: Query }) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `/v1/projects/${project.id}/queries/${name}`)
      // The list is where one goes next: it must not show it for as long as it is asked for anew.
      client.setQueryData<Query[]>(thingKeys.queries(project.id), (known) =>
        known?.filter((each) => each.name !== name),
      )
      navigate(paths.queries(project.id))
    },
    { refresh: [thingKeys.queries(project.id)], say: () => `The query ${name} is deleted.` },
  )
  return (
    <DeleteButton name={name} typed={name} act={remove}>
      The draft of <Code>{name}</Code> goes with all its versions. What is deployed must be undeployed first.
    </DeleteButton>
  )
}
