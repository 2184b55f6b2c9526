import { Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { fieldErrors } from '../../../client/refusals.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import type { Query } from '../../build/shared/wire.ts'

type Content = Partial<Omit<Query, 'id' | 'name' | 'revision' | 'deployments' | 'changed'>> & { sql: string }

type Props = {
  opened: boolean
  onClose: () => void
  project: Project
  title: string
  /** All of it but the name. */
  content: Content
  /** A name to begin with. */
  name?: string
  /** Where it goes once it is made; its page unless given. */
  then?: (name: string) => void
  children?: ReactNode
}

/** A query of something that is written already: asks for its name and goes to it. */
export function NewQueryDialog({ opened, onClose, title, ...form }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {opened && <NameForm {...form} onClose={onClose} />}
    </Modal>
  )
}

function NameForm({ project, content, name = '', then, children, onClose }: Omit<Props, 'opened' | 'title'>) {
  const [, navigate] = useLocation()
  const form = useForm({
    initialValues: { name },
    validate: { name: (typed) => (typed === '' ? 'Give it a name.' : null) },
  })
  const create = useAct(
    async (chosen: string) => {
      const path = `/v1/projects/${project.id}/queries`
      const made = await call<Query>('POST', path, { body: { ...content, name: chosen } })
      if (then === undefined) navigate(paths.query(project.id, made.name))
      else then(made.name)
      return made
    },
    { refresh: [thingKeys.queries(project.id)], say: (made) => `The query ${made.name} is made.` },
  )
  return (
    <ActForm
      onSubmit={form.onSubmit((typed) =>
        create.mutate(typed.name, { onError: (error) => form.setErrors(fieldErrors(error)) }),
      )}
      act={create}
      fields={['name']}
      verb="Create query"
      onClose={onClose}
    >
      {children !== undefined && <Text component="div">{children}</Text>}
      <TextInput
        label="Name"
        description="Callers will use it. Lower-case letters, digits and _."
        data-autofocus
        {...form.getInputProps('name')}
      />
    </ActForm>
  )
}
