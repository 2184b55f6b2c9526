import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../client/api.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { aRole, RoleChoice } from '../../parts/form/roles.tsx'
import { SecretDialog } from '../../parts/form/secret-dialog.tsx'
import { Day } from '../../parts/text/time.tsx'
import { keys, useAct } from '../../client/queries.ts'
import { fieldErrors } from '../../client/refusals.ts'
import type { CreatedInvitation, NewInvitation, Project, Role } from '../../client/wire.ts'

type Props = { project: Project; opened: boolean; onClose: () => void }

/** First whom and as what, then the link, which is not shown again. */
export function InviteDialog({ project, opened, onClose }: Props) {
  const invite = useAct(
    (body: NewInvitation) => call<CreatedInvitation>('POST', `/v1/projects/${project.id}/invitations`, { body }),
    { refresh: [keys.invitations(project.id)] },
  )
  const made = invite.data
  const close = (): void => {
    invite.reset()
    onClose()
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title={`Invite someone to ${project.name}`}
      secret={made?.link}
      label="Invitation link"
      about={
        made !== undefined && (
          <>
            Send it to {made.email ?? 'one person'}: whoever opens it first joins as {aRole(made.role)}. It works once,
            until <Day at={made.expires_at} />.
          </>
        )
      }
    >
      <InviteForm invite={invite} onClose={close} />
    </SecretDialog>
  )
}

type Invite = ReturnType<typeof useAct<CreatedInvitation, NewInvitation>>

function InviteForm({ invite, onClose }: { invite: Invite; onClose: () => void }) {
  const form = useForm<{ role: Role; email: string }>({ initialValues: { role: 'viewer', email: '' } })
  return (
    <ActForm
      gap="lg"
      onSubmit={form.onSubmit(({ role, email }) =>
        invite.mutate(
          { role, ...(email.trim() !== '' && { email }) },
          { onError: (error) => form.setErrors(fieldErrors(error)) },
        ),
      )}
      act={invite}
      fields={['email']}
      verb="Create link"
      onClose={onClose}
    >
      <RoleChoice label="They join as" value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
      <TextInput
        label="For whom"
        description="Their e-mail, as a note for you. Nothing is sent: you pass the link on yourself."
        placeholder="Optional"
        type="email"
        {...form.getInputProps('email')}
      />
    </ActForm>
  )
}
