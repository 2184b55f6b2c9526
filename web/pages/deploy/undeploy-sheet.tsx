import { Stack, Text } from '@mantine/core'
import { Confirm } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Callers } from './callers.tsx'
import { useReport, useUndeploy } from './moves.ts'
import type { Place } from './place.ts'

type Props = { place: Place; name: string; live: number; onClose: () => void }

/** Names the endpoint, and whom its end would meet. */
export function UndeploySheet({ place: { project, environment }, name, live, onClose }: Props) {
  const of = { projectId: project.id, name }
  const undeploy = useUndeploy(of, environment)
  // Deploying what is live changes nothing, and its report knows who calls it.
  const report = useReport(of, { kind: 'deploy', environment, version: live })
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
        <Loaded query={report}>{(found) => <Callers report={found} />}</Loaded>
      </Stack>
    </Confirm>
  )
}
