import { SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../client/api.ts'
import { endAfter, lifetimes } from '../../parts/form/lifetimes.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { RoleChoice } from '../../parts/form/roles.tsx'
import { SecretDialog } from '../../parts/form/secret-dialog.tsx'
import { keys, useAct } from '../../client/queries.ts'
import { fieldErrors } from '../../client/refusals.ts'
import type { CreatedManagementToken, NewManagementToken, Project, Role } from '../../client/wire.ts'

type Props = { project: Project; opened: boolean; onClose: () => void }

/** First what it may do, then the secret, which is not shown again. */
export function NewTokenDialog({ project, opened, onClose }: Props) {
  const create = useAct(
    (body: NewManagementToken) => call<CreatedManagementToken>('POST', '/v1/management-tokens', { body }),
    { refresh: [keys.tokens] },
  )
  const made = create.data
  const close = (): void => {
    create.reset()
    onClose()
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title="New management token"
      secretTitle={`Token ${made?.name}`}
      secret={made?.secret}
      label="Secret"
      about={
        <>
          Send it as <code>Authorization: Bearer …</code>. Keep it out of pages and repositories: whoever has it acts as
          you, up to the role it was given.
        </>
      }
    >
      <NewTokenForm project={project} create={create} onClose={close} />
    </SecretDialog>
  )
}

type Create = ReturnType<typeof useAct<CreatedManagementToken, NewManagementToken>>
type Values = { name: string; role: Role; scope: 'project' | 'all'; lifetimeDays: string }

function NewTokenForm({ project, create, onClose }: { project: Project; create: Create; onClose: () => void }) {
  const form = useForm<Values>({
    initialValues: {
      name: '',
      role: project.role === 'viewer' ? 'viewer' : 'editor',
      scope: 'project',
      lifetimeDays: '90',
    },
    validate: { name: (name) => (name.trim() === '' ? 'Name it after what will use it.' : null) },
  })
  const submit = ({ name, role, scope, lifetimeDays }: Values): void =>
    create.mutate(
      {
        name,
        role,
        ...(scope === 'project' && { project_id: project.id }),
        ...(lifetimeDays !== '' && { expires_at: endAfter(Number(lifetimeDays)) }),
      },
      { onError: (error) => form.setErrors(fieldErrors(error)) },
    )
  return (
    <ActForm
      gap="lg"
      onSubmit={form.onSubmit(submit)}
      act={create}
      fields={['name']}
      verb="Create token"
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What will use it, for example the pipeline that deploys."
        data-autofocus
        {...form.getInputProps('name')}
      />
      <RoleChoice
        label="It may act as"
        value={form.values.role}
        most={project.role}
        onChange={(role) => form.setFieldValue('role', role)}
      />
      <Stack gap={6}>
        <Text fw={600} id="token-scope">
          It reaches
        </Text>
        <SegmentedControl
          aria-labelledby="token-scope"
          data={[
            { value: 'project', label: 'This project' },
            { value: 'all', label: 'Every project of mine' },
          ]}
          {...form.getInputProps('scope')}
        />
      </Stack>
      <Select label="It is good for" data={lifetimes} {...form.getInputProps('lifetimeDays')} />
    </ActForm>
  )
}
