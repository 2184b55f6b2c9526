import { Code } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { Confirm } from '../../../parts/form/confirm.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import type { Query } from '../../build/shared/wire.ts'

type Props = { project: Project; query: Query; opened: boolean; onClose: () => void }

export function DeleteQuery({ project, query: { name }, opened, onClose }: Props) {
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
    <Confirm
      opened={opened}
      onClose={onClose}
      title={`Delete ${name}`}
      verb={`Delete ${name}`}
      typed={name}
      act={remove}
    >
      The draft of <Code>{name}</Code> goes with all its versions. What is deployed must be undeployed first.
    </Confirm>
  )
}
