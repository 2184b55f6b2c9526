import { Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearch } from 'wouter'
import { call } from '../client/api.ts'
import { Gate } from '../parts/shell/gate.tsx'
import { Loaded } from '../parts/text/loaded.tsx'
import { RefusalNotice } from '../parts/text/refusal.tsx'
import { paths, usualEnvironment } from '../browser/paths.ts'
import { useEnvironments, useProjects, useUser } from '../client/queries.ts'
import type { ApprovedClient, ApproveClient, Project, ShownClient } from '../client/wire.ts'

/** The request of an assistant that was given a link, as its address says it. */
type Asked = {
  clientId: string
  redirectUri: string
  challenge: string
  state: string | null
  resource: string | null
}

/** Where a person lets an assistant call the queries of one environment of one of their projects. */
export function AuthorizePage() {
  const search = new URLSearchParams(useSearch())
  const asked: Asked = {
    clientId: search.get('client_id') ?? '',
    redirectUri: search.get('redirect_uri') ?? '',
    challenge: search.get('code_challenge') ?? '',
    state: search.get('state'),
    resource: search.get('resource'),
  }
  const isWhole =
    search.get('response_type') === 'code' && search.get('code_challenge_method') === 'S256' && asked.challenge !== ''
  const client = useQuery({
    queryKey: ['oauth-client', asked.clientId, asked.redirectUri],
    queryFn: ({ signal }) => call<ShownClient>('GET', `/v1/oauth/client?${addressOf(asked)}`, { signal }),
    enabled: isWhole,
    retry: false,
    staleTime: Infinity,
  })
  if (!isWhole || client.error !== null) {
    return (
      <Gate title="This cannot be connected">
        {isWhole ? (
          <RefusalNotice error={client.error} />
        ) : (
          <Text>The address does not ask for access as OAuth 2.1 wants it: response_type=code and PKCE with S256.</Text>
        )}
        <Anchor component={Link} href={paths.home}>
          Go to your projects
        </Anchor>
      </Gate>
    )
  }
  if (client.data === undefined) return null
  return (
    <Gate
      title={`Let ${client.data.client_name} in?`}
      about="It may then call the deployed queries of the place you choose and ask questions there, and change nothing."
    >
      <Consent asked={asked} client={client.data} />
    </Gate>
  )
}

function addressOf({ clientId, redirectUri }: Asked): string {
  return new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri }).toString()
}

function Consent({ asked, client }: { asked: Asked; client: ShownClient }) {
  const projects = useProjects()
  return (
    <Loaded query={projects} waiting={null}>
      {(all) => {
        const own = all.filter(({ role }) => role === 'owner')
        return own.length === 0 ? (
          <Text>You own no project. Only owners can give access to what their queries answer.</Text>
        ) : (
          <Choice asked={asked} client={client} projects={own} />
        )
      }}
    </Loaded>
  )
}

function Choice({ asked, client, projects }: { asked: Asked; client: ShownClient; projects: Project[] }) {
  const user = useUser()
  const [projectId, setProjectId] = useState(projects[0]?.id ?? '')
  const [environment, setEnvironment] = useState(usualEnvironment)
  const environments = useEnvironments(projectId)
  const approve = useMutation({
    mutationFn: () => {
      const body: ApproveClient = {
        client_id: asked.clientId,
        redirect_uri: asked.redirectUri,
        code_challenge: asked.challenge,
        code_challenge_method: 'S256',
        project_id: projectId,
        environment,
        ...(asked.state !== null && { state: asked.state }),
        ...(asked.resource !== null && { resource: asked.resource }),
      }
      return call<ApprovedClient>('POST', '/v1/oauth/approvals', { body })
    },
    // It leads out of the app, back to whoever asked.
    onSuccess: ({ redirect_to: back }) => location.assign(back),
  })
  const names = (environments.data ?? []).map(({ name }) => name)
  return (
    <Stack gap="md">
      <NativeSelect
        label="Project"
        value={projectId}
        data={projects.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(event) => {
          setProjectId(event.currentTarget.value)
          setEnvironment(usualEnvironment)
        }}
      />
      <NativeSelect
        label="Environment"
        value={environment}
        data={names.length === 0 ? [environment] : names}
        onChange={(event) => setEnvironment(event.currentTarget.value)}
      />
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        You are signed in as {user.name}.{' '}
        {client.client_id.startsWith('https:') && `It is known by its address, ${client.client_id}. `}
        {client.client_name} returns to {hostOf(client.redirect_uri)}. Its access is an API key that you can revoke
        under Deploy, API keys.
      </Text>
      <RefusalNotice error={approve.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={() => location.assign(refusedAddress(asked))}>
          Refuse
        </Button>
        <Button loading={approve.isPending} onClick={() => approve.mutate()}>
          Let it in
        </Button>
      </Group>
    </Stack>
  )
}

function hostOf(address: string): string {
  const url = URL.parse(address)
  return url === null || url.host === '' ? address : url.host
}

/** The address was checked by the server before anything of it is followed. */
function refusedAddress({ redirectUri, state }: Asked): string {
  const back = new URL(redirectUri)
  back.searchParams.set('error', 'access_denied')
  if (state !== null) back.searchParams.set('state', state)
  return back.href
}
