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
import type { ApprovedClient, ApproveClient, ApproveProgram, Project, ShownClient } from '../client/wire.ts'
import { useProgramPermission } from './program-permission.tsx'

/** The request of an assistant that was given a link, as its address says it. */
type Asked = {
  clientId: string
  redirectUri: string
  challenge: string
  state: string | null
  resource: string | null
  /** Access to build, for the command line and assistants at `/mcp/build`. */
  builds: boolean
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
    builds:
      search.get('scope')?.split(' ').includes('manage') === true ||
      search.get('resource')?.endsWith('/mcp/build') === true,
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
      title={`Let ${client.data.client_name.replace(/^The command/, 'the command')} in?`}
      about={
        asked.builds
          ? 'It may then build for you: connect APIs, write queries and release them.'
          : 'It may then call the deployed queries of the place you choose and ask questions there, and change nothing.'
      }
    >
      {asked.builds ? (
        <ProgramConsent asked={asked} client={client.data} />
      ) : (
        <Consent asked={asked} client={client.data} />
      )}
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
      const body: ApproveClient = { ...requestOf(asked), project_id: projectId, environment }
      return call<ApprovedClient>('POST', '/v1/oauth/approvals', { body })
    },
    onSuccess: leave,
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
        You are signed in as {user.name}. {wayBackOf(client)} Its access is an API key that you can revoke under Deploy,
        API keys.
      </Text>
      <RefusalNotice error={approve.error} />
      <Decide asked={asked} isPending={approve.isPending} onAllow={() => approve.mutate()} />
    </Stack>
  )
}

function ProgramConsent({ asked, client }: { asked: Asked; client: ShownClient }) {
  const { permission, fields } = useProgramPermission()
  const approve = useMutation({
    mutationFn: () => {
      const body: ApproveProgram = { ...requestOf(asked), ...permission }
      return call<ApprovedClient>('POST', '/v1/oauth/sign-ins', { body })
    },
    onSuccess: leave,
  })
  return (
    <Stack gap="md">
      {fields}
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {wayBackOf(client)}
      </Text>
      <RefusalNotice error={approve.error} />
      <Decide asked={asked} isPending={approve.isPending} onAllow={() => approve.mutate()} />
    </Stack>
  )
}

function Decide({ asked, isPending, onAllow }: { asked: Asked; isPending: boolean; onAllow: () => void }) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={() => location.assign(refusedAddress(asked))}>
        Refuse
      </Button>
      <Button loading={isPending} onClick={onAllow}>
        Let it in
      </Button>
    </Group>
  )
}

function requestOf({ clientId, redirectUri, challenge, state, resource }: Asked) {
  return {
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256' as const,
    ...(state !== null && { state }),
    ...(resource !== null && { resource }),
  }
}

/** Out of the app, back to whoever asked. */
function leave({ redirect_to: back }: ApprovedClient): void {
  location.assign(back)
}

function wayBackOf(client: ShownClient): string {
  const known = client.client_id.startsWith('https:') ? `It is known by its address, ${client.client_id}. ` : ''
  return `${known}${client.client_name} returns to ${hostOf(client.redirect_uri)}.`
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
