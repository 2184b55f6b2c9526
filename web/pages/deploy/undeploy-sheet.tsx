import { List, Stack, Text } from '@mantine/core'
import { Confirm } from '../../parts/confirm.tsx'
import { Ago } from '../../parts/time.tsx'
import { useUndeploy } from './moves.ts'
import type { Place } from './place.ts'
import { useApiKeys } from './queries.ts'
import { reaches } from './reaches.ts'

/** Names the endpoint, and whom its end would meet. */
export function UndeploySheet({
  place: { project, environment },
  name,
  opened,
  onClose,
}: {
  place: Place
  name: string
  opened: boolean
  onClose: () => void
}) {
  const undeploy = useUndeploy({ projectId: project.id, name }, environment)
  const owner = project.role === 'owner'
  const keys = useApiKeys(opened && owner)
  const concerned = (keys.data ?? []).filter(
    (key) => key.status === 'active' && reaches(key, { projectId: project.id, environment, query: name }),
  )
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={`Undeploy ${name} from ${environment}`}
      verb={`Undeploy ${name}`}
      act={undeploy}
    >
      <Stack gap="sm">
        <Text>
          Calls to it in {environment} are refused at once, and questions no longer reach it. Its versions stay: it can
          be deployed again as it is.
        </Text>
        {owner && keys.data !== undefined && (
          <div>
            <Text fw={600}>{concerned.length === 0 ? 'No active key reaches it.' : 'Keys that reach it'}</Text>
            {concerned.length > 0 && (
              <List spacing={2} mt={4}>
                {concerned.slice(0, 8).map((key) => (
                  <List.Item key={key.id}>
                    {key.name},{' '}
                    {key.last_used_at === null ? (
                      'never used'
                    ) : (
                      <>
                        last used <Ago at={key.last_used_at} />
                      </>
                    )}
                  </List.Item>
                ))}
                {concerned.length > 8 && <List.Item>and {concerned.length - 8} more</List.Item>}
              </List>
            )}
          </div>
        )}
      </Stack>
    </Confirm>
  )
}
