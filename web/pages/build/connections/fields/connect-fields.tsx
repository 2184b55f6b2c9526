import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link2, Unlink } from 'lucide-react'
import { call } from '../../../../client/api.ts'
import { CopyMark } from '../../../../parts/text/copy.tsx'
import { RefusalNotice } from '../../../../parts/text/refusal.tsx'
import { Ago } from '../../../../parts/text/time.tsx'
import { useAct } from '../../../../client/queries.ts'
import type { Api, Project } from '../../../../client/wire.ts'
import { buildKeys } from '../../shared/asked.ts'
import type { Authorization, BegunAuthorization, Datasource } from '../../shared/wire.ts'

type Props = {
  project: Project
  source: Datasource | null
  /** Stores what stands in the form: what is connected is what was saved. */
  save: () => Promise<Datasource>
  /** Whether it can be stored as it stands. */
  ready: boolean
  /** The API whose authentication counts where the connection has none. */
  api: Api | undefined
}

const byCode = 'OAuth2 Authorization Code'

/** Whether the API may be asked in somebody's name, and the button that leads to its own page to agree. */
export function ConnectFields({ project, source, save, ready, api }: Props) {
  const path = (id: string): string => `/v1/projects/${project.id}/datasources/${id}/authorization`
  const key = buildKeys.authorization(project.id, source?.id ?? '')
  const editor = project.role !== 'viewer'
  const known = useQuery({
    queryKey: key,
    enabled: source !== null && (source.config?.['authType'] ?? api?.config['authType']) === byCode,
    queryFn: ({ signal }) => call<Authorization>('GET', path(source?.id ?? ''), { signal }),
  })
  const connect = useAct(
    async () => {
      const { id } = await save()
      const { authorization_url: there } = await call<BegunAuthorization>('POST', path(id))
      location.assign(there)
    },
    { refresh: [] },
  )
  const disconnect = useAct(() => call<undefined>('DELETE', path(source?.id ?? '')), {
    refresh: [key],
    say: () => 'Disconnected. Its tokens are forgotten here.',
  })
  const isConnected = known.data !== undefined && known.data.status !== 'none'
  return (
    <Stack gap="xs">
      <Standing authorization={known.data} />
      {editor && (
        <Group gap="xs">
          <Button
            variant={isConnected ? 'default' : 'filled'}
            leftSection={<Link2 size={16} aria-hidden />}
            disabled={!ready}
            loading={connect.isPending || connect.isSuccess}
            onClick={() => connect.mutate()}
          >
            {isConnected ? 'Connect again' : 'Connect'}
          </Button>
          {isConnected && (
            <Button
              variant="default"
              leftSection={<Unlink size={16} aria-hidden />}
              loading={disconnect.isPending}
              onClick={() => disconnect.mutate()}
            >
              Disconnect
            </Button>
          )}
        </Group>
      )}
      <RefusalNotice error={connect.error ?? disconnect.error ?? known.error} />
    </Stack>
  )
}

function Standing({ authorization: known }: { authorization: Authorization | undefined }) {
  if (known === undefined) {
    return (
      <Text size="sm" c="dimmed">
        Connect saves this and opens the page of the API, where you agree. It then shows the address to register there.
      </Text>
    )
  }
  return (
    <>
      <Text size="sm" {...(known.status === 'connected' && { c: 'var(--sluice-good-mark)' })} aria-live="polite">
        {known.status === 'connected' && known.connected_at !== null && (
          <>
            Connected by {known.connected_by ?? 'someone'} <Ago at={known.connected_at} />.{' '}
            {known.renews ? 'It renews itself.' : 'The API gave no refresh token: it ends with its access token.'}
          </>
        )}
        {known.status === 'none' && 'Not connected yet.'}
        {known.status === 'outdated' &&
          'Its addresses or its client have changed since it was connected: connect again.'}
        {known.status === 'refused' && (known.refusal ?? 'The API gives no further tokens.')}
      </Text>
      <Group gap={4} wrap="nowrap">
        <Text size="xs" c="dimmed">
          Redirect address to register there:{' '}
          <Code fz="xs" style={{ overflowWrap: 'anywhere' }}>
            {known.redirect_uri}
          </Code>
        </Text>
        <CopyMark text={known.redirect_uri} what="the redirect address" />
      </Group>
    </>
  )
}
