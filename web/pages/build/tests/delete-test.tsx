import { Button, Code, Group } from '@mantine/core'
import { useState } from 'react'
import type { Project } from '../../../client/wire.ts'
import { Confirm } from '../../../parts/form/confirm.tsx'
import { useDeleteTest, type RowTest } from './use-row-tests.ts'

/** At the end of a test: takes it away once that is confirmed. */
export function DeleteTest({ project, test }: { project: Project; test: RowTest }) {
  const [asking, setAsking] = useState(false)
  const remove = useDeleteTest(project, test)
  const { name, query, model } = test
  return (
    <Group>
      <Button size="compact-sm" variant="default" c="var(--sluice-danger)" onClick={() => setAsking(true)}>
        Delete test
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Delete the test ${name}`}
        verb={`Delete ${name}`}
        act={remove}
      >
        Changes of <Code>{query ?? model}</Code> are no longer held to it. A definition that has it in its files brings
        it back.
      </Confirm>
    </Group>
  )
}
