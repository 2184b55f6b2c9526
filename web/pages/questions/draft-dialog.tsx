import { Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { call } from '../../client/api.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { paths } from '../../browser/paths.ts'
import { useAct } from '../../client/queries.ts'
import { fieldErrors } from '../../client/refusals.ts'
import { thingKeys } from '../../client/things.ts'
import { questionsKey } from './asked-questions.tsx'
import type { Place } from '../deploy/shared/place.ts'
import type { QuestionGroup } from '../deploy/shared/wire.ts'

type Props = { place: Place; group: QuestionGroup; opened: boolean; onClose: () => void }

/** A query of its own for questions that none answers: a draft with them as its examples, to be written in Build. */
export function DraftDialog({ place: { project }, group, opened, onClose }: Props) {
  const [, navigate] = useLocation()
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name === '' ? 'Give it a name.' : null) },
  })
  const draft = useAct(
    async (name: string) => {
      const questions = group.questions.map(({ text }) => text)
      const path = `/v1/projects/${project.id}/questions/resolve`
      await call('POST', path, { body: { questions, as: 'draft', query: name } })
      navigate(paths.query(project.id, name))
    },
    {
      refresh: [questionsKey(project.id), thingKeys.queries(project.id)],
      say: (_, name) => `${name} has the questions as its examples. Write its SQL, then deploy it.`,
    },
  )
  return (
    <Modal opened={opened} onClose={onClose} title="A new query for it">
      <ActForm
        onSubmit={form.onSubmit(({ name }) =>
          draft.mutate(name, { onError: (error) => form.setErrors({ name: fieldErrors(error)['query'] }) }),
        )}
        act={draft}
        fields={['query']}
        verb="Write it"
        onClose={onClose}
      >
        <Text>“{group.question}”</Text>
        <TextInput
          label="Name"
          description="Callers use it, so it stays. Lower-case letters, digits and _."
          data-autofocus
          {...form.getInputProps('name')}
        />
      </ActForm>
    </Modal>
  )
}
