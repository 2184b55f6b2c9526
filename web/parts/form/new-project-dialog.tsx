import { Modal, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { call } from '../../client/api.ts'
import { paths } from '../../browser/paths.ts'
import { keys, useAct } from '../../client/queries.ts'
import { fieldErrors } from '../../client/refusals.ts'
import type { Project } from '../../client/wire.ts'
import { ActForm } from './act-form.tsx'

export function NewProjectDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="New project">
      <NewProjectForm onClose={onClose} />
    </Modal>
  )
}

function NewProjectForm({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const create = useAct((body: { name: string }) => call<Project>('POST', '/v1/projects', { body }), {
    refresh: [keys.projects],
    say: ({ name }) => `Project ${name} is ready.`,
  })
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Give it a name.' : null) },
  })
  return (
    <ActForm
      onSubmit={form.onSubmit((body) =>
        create.mutate(body, {
          onSuccess: ({ id }) => {
            onClose()
            navigate(paths.project(id))
          },
          onError: (error) => form.setErrors(fieldErrors(error)),
        }),
      )}
      act={create}
      fields={['name']}
      verb="Create project"
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What the data is about, for example the shop or the team."
        data-autofocus
        {...form.getInputProps('name')}
      />
    </ActForm>
  )
}
