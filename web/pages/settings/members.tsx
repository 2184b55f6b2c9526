import { Avatar, Badge, Button, Select, Stack, Text, Title } from '@mantine/core'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../client/api.ts'
import { AskFirst, Confirm } from '../../parts/form/confirm.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { aRole, asRole, RoleBadge, roleName, roleOptions } from '../../parts/form/roles.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { paths } from '../../browser/paths.ts'
import { keys, useAct, useForgetProject, useInvitations, useMembers, useUser } from '../../client/queries.ts'
import type { Invitation, Member, Project, Role } from '../../client/wire.ts'
import { InviteDialog } from './invite-dialog.tsx'
import { RowAct } from '../../parts/table/row-act.tsx'

export function MembersSection({ project }: { project: Project }) {
  const members = useMembers(project.id)
  const [inviting, setInviting] = useState(false)
  const owner = project.role === 'owner'
  return (
    <>
      <Heading
        title="Members"
        within={project.name}
        action={
          owner ? (
            <Button leftSection={<UserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
              Invite by link
            </Button>
          ) : undefined
        }
      >
        {owner
          ? 'Who works in this project, and what they may do.'
          : `You are ${aRole(project.role)} here. Owners invite people and change roles.`}
      </Heading>
      <Loaded query={members}>
        {(list) => (
          <Rows label="Members">
            {list.map((member) => (
              <MemberRow key={member.user_id} project={project} member={member} all={list} />
            ))}
          </Rows>
        )}
      </Loaded>
      {owner && <Invitations project={project} />}
      <InviteDialog project={project} opened={inviting} onClose={() => setInviting(false)} />
    </>
  )
}

function MemberRow({ project, member, all }: { project: Project; member: Member; all: Member[] }) {
  const user = useUser()
  const self = member.user_id === user.id
  const lastOwner = member.role === 'owner' && all.filter(({ role }) => role === 'owner').length === 1
  const owner = project.role === 'owner'
  return (
    <Row
      lead={<Avatar name={member.name} color="tide" size={34} />}
      end={
        <>
          {owner && !lastOwner ? (
            <RoleSelect project={project} member={member} self={self} />
          ) : (
            <RoleBadge role={member.role} />
          )}
          {(owner || self) && !lastOwner && <RemoveMember project={project} member={member} self={self} />}
        </>
      }
    >
      <Text fw={500} component="div">
        {member.name}
        {self && (
          <Badge variant="light" size="sm" tt="none" ml={8} radius="sm" color="tide">
            You
          </Badge>
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {member.email ?? 'No e-mail yet'}
        {lastOwner && owner && ' · The only owner: make someone else an owner first to leave or step down'}
      </Text>
    </Row>
  )
}

function RoleSelect({ project, member, self }: { project: Project; member: Member; self: boolean }) {
  const [stepDown, setStepDown] = useState<Role | null>(null)
  const change = useAct(
    (role: Role) => call<Member>('PATCH', `/v1/projects/${project.id}/members/${member.user_id}`, { body: { role } }),
    {
      // One's own role decides what the whole project shows.
      refresh: [keys.projects],
      say: ({ name, role }) => `${name} is ${aRole(role)} now.`,
    },
  )
  const confirm = useAct(() => change.mutateAsync(stepDown ?? member.role), { refresh: [] })
  return (
    <Stack gap={4} align="flex-end">
      <Select
        aria-label={`Role of ${member.name}`}
        data={roleOptions}
        value={change.isPending ? (change.variables ?? member.role) : member.role}
        w={112}
        size="xs"
        comboboxProps={{ width: 130, position: 'bottom-end' }}
        onChange={(value) => {
          const role = asRole(value)
          if (role === undefined || role === member.role) return
          if (self) setStepDown(role)
          else change.mutate(role)
        }}
      />
      <Confirm
        opened={stepDown !== null}
        onClose={() => setStepDown(null)}
        title={`Become ${aRole(stepDown ?? 'viewer')} of ${project.name}`}
        verb={`Become ${aRole(stepDown ?? 'viewer')}`}
        act={confirm}
      >
        You give up managing this project. Only another owner can make you an owner again.
      </Confirm>
      {stepDown === null && <RefusalNotice error={change.error} />}
    </Stack>
  )
}

function RemoveMember({ project, member, self }: { project: Project; member: Member; self: boolean }) {
  const [, navigate] = useLocation()
  const forget = useForgetProject(project.id)
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `/v1/projects/${project.id}/members/${member.user_id}`)
      if (!self) return
      forget()
      navigate(paths.home)
    },
    {
      refresh: self ? [keys.projects] : [keys.members(project.id)],
      say: () => (self ? `You have left ${project.name}.` : `${member.name} is no longer a member.`),
    },
  )
  return (
    <AskFirst
      renderButton={(ask) => (
        <RowAct label={self ? `Leave ${project.name}` : `Remove ${member.name}`} onClick={ask}>
          {self ? 'Leave' : 'Remove'}
        </RowAct>
      )}
      title={self ? `Leave ${project.name}` : `Remove ${member.name} from ${project.name}`}
      verb={self ? 'Leave the project' : `Remove ${member.name}`}
      act={remove}
    >
      {self
        ? 'You lose access at once, and so do the tokens you made. An owner can invite you again.'
        : `${member.name} loses access at once, and so do the tokens they made. What they built stays.`}
    </AskFirst>
  )
}

function Invitations({ project }: { project: Project }) {
  const invitations = useInvitations(project.id, true)
  if (invitations.data?.length === 0) return null
  return (
    <Stack gap="sm" mt="xl">
      <Title order={2}>Open invitations</Title>
      <Loaded query={invitations} waiting={null}>
        {(list) => (
          <Rows label="Open invitations">
            {list.map((invitation) => (
              <InvitationRow key={invitation.id} project={project} invitation={invitation} />
            ))}
          </Rows>
        )}
      </Loaded>
    </Stack>
  )
}

function InvitationRow({ project, invitation }: { project: Project; invitation: Invitation }) {
  const whom = invitation.email ?? 'Whoever opens the link'
  const withdraw = useAct(() => call<undefined>('DELETE', `/v1/projects/${project.id}/invitations/${invitation.id}`), {
    refresh: [keys.invitations(project.id)],
    say: () => 'The invitation is withdrawn.',
  })
  return (
    <Row
      end={
        <>
          <RoleBadge role={invitation.role} />
          <AskFirst
            renderButton={(ask) => (
              <RowAct label={`Withdraw the invitation for ${whom}`} onClick={ask}>
                Withdraw
              </RowAct>
            )}
            title="Withdraw the invitation"
            verb="Withdraw it"
            act={withdraw}
          >
            The link for {invitation.email ?? `a new ${roleName(invitation.role).toLowerCase()}`} stops working at once.
          </AskFirst>
        </>
      }
    >
      <Text fw={500}>{whom}</Text>
      <Text size="xs" c="dimmed">
        Made <Ago at={invitation.created_at} />, ends <Ago at={invitation.expires_at} />
      </Text>
    </Row>
  )
}
