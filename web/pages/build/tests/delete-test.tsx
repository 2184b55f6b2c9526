import { Button, Code, Group } from '@mantine/core'
import type { Project } from '../../../client/wire.ts'
import { AskFirst } from '../../../parts/form/confirm.tsx'
import { useDeleteTest, type RowTest } from './use-row-tests.ts'

/** At the end of a test: takes it away once that is confirmed. */
export function DeleteTest({ project, test }: { project: Project; test: RowTest }) {
  const remove = useDeleteTest(project, test)
  const { name, query, model } = test
  return (
    <Group>
      <AskFirst
        renderButton={(ask) => (
          <Button size="compact-sm" variant="default" c="var(--sluice-danger)" onClick={ask}>
            Delete test
          </Button>
        )}
        title={`Delete the test ${name}`}
        verb={`Delete ${name}`}
        act={remove}
      >
        Changes of <Code>{query ?? model}</Code> are no longer held to it. A definition that has it in its files brings
        it back.
      </AskFirst>
    </Group>
  )
}
