import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link2 } from 'lucide-react'
import { call } from '../../../client/api.ts'
import { AskFirst } from '../../../parts/form/confirm.tsx'
import { SecretDialog } from '../../../parts/form/secret-dialog.tsx'
import { Day } from '../../../parts/text/time.tsx'
import { useAct } from '../../../client/queries.ts'
import type { CreatedSharedReference, SharedReference } from '../../../client/wire.ts'

type Props = { projectId: string; environment: string; isOwner: boolean }

/** A link to the reference for people without an account or a key; owners make and end it. */
export function ShareReference({ projectId, environment, isOwner }: Props) {
  const path = `/v1/projects/${projectId}/shared-references`
  const queryKey = ['projects', projectId, 'shared-references']
  const shared = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await call<{ data: SharedReference[] }>('GET', path, { signal })).data,
  })
  const share = useAct(() => call<CreatedSharedReference>('PUT', `${path}/${environment}`), { refresh: [queryKey] })
  const end = useAct(() => call<undefined>('DELETE', `${path}/${environment}`), {
    refresh: [queryKey],
    say: () => 'The link leads nowhere from now on.',
  })
  const found = shared.data?.find((each) => each.environment === environment)
  if (shared.data === undefined) return null
  return (
    <Group gap="sm">
      <Text>
        {found === undefined ? (
          'Private: readers need an API key.'
        ) : (
          <>
            Anybody with its link reads it without a key, since <Day at={found.created_at} />.
          </>
        )}
      </Text>
      {isOwner && (
        <Button
          variant="default"
          size="xs"
          leftSection={<Link2 size={14} aria-hidden />}
          loading={share.isPending}
          onClick={() => share.mutate()}
        >
          {found === undefined ? 'Share by link' : 'Make a new link'}
        </Button>
      )}
      {isOwner && found !== undefined && (
        <AskFirst
          renderButton={(ask) => (
            <Button variant="subtle" color="gray" size="xs" onClick={ask}>
              Stop sharing
            </Button>
          )}
          title="Stop sharing the reference"
          verb="Stop sharing"
          act={end}
        >
          Whoever opens the link is told that it leads nowhere. Callers with a key notice nothing.
        </AskFirst>
      )}
      <SecretDialog
        opened={share.data !== undefined}
        onClose={() => share.reset()}
        title={`Share the reference of ${environment}`}
        secret={share.data?.link}
        label="Link to the reference"
        about="Whoever has it reads names, descriptions, slots, columns and examples of what is deployed, and no data. Calling takes an API key. A link from before has ended."
      >
        {null}
      </SecretDialog>
    </Group>
  )
}
