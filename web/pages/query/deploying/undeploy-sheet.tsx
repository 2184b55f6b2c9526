import { Stack, Text, Title } from '@mantine/core'
import { Confirm } from '../../../parts/form/confirm.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Callers } from './callers.tsx'
import { MovedQuestions } from '../../deploy/shared/moved-questions.tsx'
import { useEndReport, useUndeploy } from './moves.ts'
import type { Place } from '../../deploy/shared/place.ts'
import { sayLosses } from '../../deploy/shared/words.ts'

type Props = { place: Place; name: string; onClose: () => void }

/** Names the endpoint, and whom and which questions its end would meet. */
export function UndeploySheet({ place: { project, environment }, name, onClose }: Props) {
  const of = { projectId: project.id, name }
  const undeploy = useUndeploy(of, environment)
  const report = useEndReport(of, environment)
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`Undeploy ${name} from ${environment}`}
      verb={`Undeploy ${name}`}
      act={undeploy}
    >
      <Stack gap="md">
        <Text>
          Calls to it in {environment} are refused at once, and questions no longer reach it. Its versions stay: it can
          be deployed again as it is.
        </Text>
        <Loaded query={report}>
          {(found) => (
            <>
              <Callers report={found} />
              <section>
                <Title order={3} mb={4}>
                  Questions
                </Title>
                <Text c="dimmed">{sayLosses(found)}</Text>
                <MovedQuestions routing={found.routing} />
              </section>
            </>
          )}
        </Loaded>
      </Stack>
    </Confirm>
  )
}
