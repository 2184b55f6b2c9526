import { Badge, Button, Group, Text } from '@mantine/core'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { AskFirst } from '../../parts/form/confirm.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Older } from '../../parts/table/more.tsx'
import { RoleBadge } from '../../parts/form/roles.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Ago, Day } from '../../parts/text/time.tsx'
import { keys, useAct, useMembers, useTokens, useUser } from '../../client/queries.ts'
import type { ManagementToken, Project } from '../../client/wire.ts'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { RowAct } from '../../parts/table/row-act.tsx'

export function TokensSection({ project }: { project: Project }) {
  const user = useUser()
  const tokens = useTokens()
  const [creating, setCreating] = useState(false)
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New token
    </Button>
  )
  const here = tokens.data?.filter(({ project_id: only }) => only === null || only === project.id) ?? []
  return (
    <>
      <Heading title="Management tokens" within={project.name} action={here.length > 0 ? button : undefined}>
        For scripts and automation that build and deploy in this project.{' '}
        {user.administrator ? 'As an administrator you see everyone’s.' : 'You see those you made.'}
      </Heading>
      <Loaded query={tokens}>
        {() =>
          here.length === 0 ? (
            <Empty icon={<KeyRound size={20} />} action={button} guide="keys-and-limits">
              A token lets a script or a pipeline do here what you let it do, without your password.
            </Empty>
          ) : (
            <Rows label="Management tokens">
              {here.map((token) => (
                <TokenRow key={token.id} project={project} token={token} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Older pages={tokens} what="tokens" />
      <NewTokenDialog project={project} opened={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function TokenRow({ project, token }: { project: Project; token: ManagementToken }) {
  const active = token.status === 'active'
  return (
    <Row
      end={
        <>
          <RoleBadge role={token.role} />
          {active ? (
            <RevokeToken token={token} />
          ) : (
            <Text size="xs" c="dimmed" w={68} ta="center">
              {token.status === 'revoked' ? 'Revoked' : 'Expired'}
            </Text>
          )}
        </>
      }
    >
      <Group gap="xs">
        <Text fw={500} {...(!active && { td: 'line-through', c: 'dimmed' })}>
          {token.name}
        </Text>
        {token.project_id === null && (
          <Badge variant="light" size="sm" tt="none" radius="sm" color="tide">
            Every project
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        <Text component="span" ff="monospace" size="xs">
          {token.start}…{token.last4}
        </Text>
        {' · '}
        {token.last_used_at === null ? 'never used' : <UsedAgo at={token.last_used_at} />}
        <Maker project={project} userId={token.created_by} />
        {token.expires_at !== null && active && (
          <>
            {' · until '}
            <Day at={token.expires_at} />
          </>
        )}
      </Text>
    </Row>
  )
}

function UsedAgo({ at }: { at: string }) {
  return (
    <>
      used <Ago at={at} />
    </>
  )
}

function Maker({ project, userId }: { project: Project; userId: string | null }) {
  const user = useUser()
  const members = useMembers(project.id)
  if (userId === null || userId === user.id) return null
  const name = members.data?.find((member) => member.user_id === userId)?.name
  return name === undefined ? null : ` · made by ${name}`
}

function RevokeToken({ token }: { token: ManagementToken }) {
  const revoke = useAct(() => call<undefined>('DELETE', `/v1/management-tokens/${token.id}`), {
    refresh: [keys.tokens],
    say: () => `${token.name} is revoked.`,
  })
  return (
    <AskFirst
      renderButton={(ask) => (
        <RowAct label={`Revoke ${token.name}`} onClick={ask}>
          Revoke
        </RowAct>
      )}
      verb={`Revoke ${token.name}`}
      act={revoke}
    >
      Whatever calls with it is refused at once. This cannot be undone; a new token has a new secret.
    </AskFirst>
  )
}
