import { Button, Code } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../../api.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { paths } from '../../../paths.ts'
import { useAct } from '../../../queries.ts'
import { thingKeys } from '../../../things.ts'
import type { Project } from '../../../wire.ts'
import type { Query } from '../wire.ts'

export function DeleteQuery({ project, query: { name } }: { project: Project; query: Query }) {
  const [asking, setAsking] = useState(false)
  const [, navigate] = useLocation()
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `/v1/projects/${project.id}/queries/${name}`)
      navigate(paths.queries(project.id))
    },
    { refresh: [thingKeys.queries(project.id)], say: () => `The query ${name} is deleted.` },
  )
  return (
    <>
      <Button variant="default" c="var(--sluice-danger)" onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${name}`}
        verb={`Delete ${name}`}
        typed={name}
        act={remove}
      >
        The draft of <Code>{name}</Code> goes with all its versions. What is deployed must be undeployed first.
      </Confirm>
    </>
  )
}
