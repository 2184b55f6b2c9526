import { Button, Code, Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { AskFirst } from '../../parts/form/confirm.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { ActForm } from '../../parts/form/act-form.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Day } from '../../parts/text/time.tsx'
import { keys, useAct, useEnvironments } from '../../client/queries.ts'
import { fieldErrors } from '../../client/refusals.ts'
import type { Environment, Project } from '../../client/wire.ts'
import { RowAct } from '../../parts/table/row-act.tsx'

export function EnvironmentsSection({ project }: { project: Project }) {
  const environments = useEnvironments(project.id)
  const [adding, setAdding] = useState(false)
  const owner = project.role === 'owner'
  return (
    <>
      <Heading
        title="Environments"
        within={project.name}
        action={
          owner ? (
            <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
              Add environment
            </Button>
          ) : undefined
        }
      >
        A query is deployed to each on its own, and keys reach only those they were given.
        {!owner && ' Owners add and delete them.'}
      </Heading>
      <Loaded query={environments}>
        {(list) => (
          <Rows label="Environments">
            {list.map((environment) => (
              <EnvironmentRow key={environment.name} project={project} environment={environment} />
            ))}
          </Rows>
        )}
      </Loaded>
      <Modal opened={adding} onClose={() => setAdding(false)} title="Add an environment">
        <AddForm project={project} onClose={() => setAdding(false)} />
      </Modal>
    </>
  )
}

function EnvironmentRow({
  project,
  environment: { name, created_at: at },
}: {
  project: Project
  environment: Environment
}) {
  const remove = useAct(() => call<undefined>('DELETE', `/v1/projects/${project.id}/environments/${name}`), {
    refresh: [keys.environments(project.id)],
    say: () => `The environment ${name} is deleted.`,
  })
  const removable = project.role === 'owner' && name !== 'production'
  return (
    <Row
      end={
        removable && (
          <AskFirst
            renderButton={(ask) => (
              <RowAct label={`Delete ${name}`} onClick={ask}>
                Delete
              </RowAct>
            )}
            title={`Delete the environment ${name}`}
            verb={`Delete ${name}`}
            typed={name}
            act={remove}
          >
            What is deployed in <Code>{name}</Code> stops answering at once. This cannot be undone.
          </AskFirst>
        )
      }
    >
      <Text fw={500}>{name}</Text>
      <Text size="xs" c="dimmed">
        {name === 'production' ? (
          'Calls that name no environment come here, so every project keeps it'
        ) : (
          <>
            Since <Day at={at} />
          </>
        )}
      </Text>
    </Row>
  )
}

function AddForm({ project, onClose }: { project: Project; onClose: () => void }) {
  const add = useAct(
    (body: { name: string }) => call<Environment>('POST', `/v1/projects/${project.id}/environments`, { body }),
    { refresh: [keys.environments(project.id)], say: ({ name }) => `The environment ${name} is ready.` },
  )
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name === '' ? 'Give it a name.' : null) },
  })
  return (
    <ActForm
      onSubmit={form.onSubmit((body) =>
        add.mutate(body, { onSuccess: onClose, onError: (error) => form.setErrors(fieldErrors(error)) }),
      )}
      act={add}
      fields={['name']}
      verb="Add environment"
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Lower-case letters, digits and _, as callers write it."
        placeholder="preview"
        data-autofocus
        {...form.getInputProps('name')}
      />
    </ActForm>
  )
}
