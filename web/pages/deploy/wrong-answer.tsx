import { Modal, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api.ts'
import { FormEnd } from '../../parts/form-end.tsx'
import { useAct } from '../../queries.ts'
import type { Place } from './place.ts'
import { useDeployments, useVersion } from './queries.ts'
import { readValues, showValues, type Typed } from './slot-values.ts'
import { SlotsForm } from './slots-form.tsx'
import type { Told } from './told.ts'

type Props = {
  place: Place
  opened: boolean
  onClose: () => void
  question: string
  told: Told
  /** Of an answer that the log knows, which the router can be told of. */
  requestId: string | null
}

/** Says what the right answer is: a query with its values, or none. It becomes an evaluation case. */
export function WrongAnswer({ opened, onClose, ...props }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="What would be right?">
      {opened && <RightAnswer {...props} onClose={onClose} />}
    </Modal>
  )
}

/** No query can be called so. */
const none = '(none)'

function RightAnswer({ place, question, told, requestId, onClose }: Omit<Props, 'opened'>) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  const here = (deployments.data ?? []).filter((each) => each.environment === environment)
  // Nothing is chosen beforehand: what was answered is wrong, and a guess would be confirmed unread.
  const [chosen, setChosen] = useState<string | null>(null)
  const [typed, setTyped] = useState<Typed>({})
  const live = here.find(({ name }) => name === chosen)
  const version = useVersion({ projectId: project.id, name: chosen ?? '' }, live?.version)
  const slots = live === undefined ? undefined : version.data?.slots
  const path = `/v1/projects/${project.id}`
  const expected = chosen === none ? null : chosen
  // The router heeds which query is right; values are checked by the case alone.
  const isHeeded = requestId !== null && expected !== told.query
  const keep = useAct(
    async () => {
      const values = slots === undefined ? null : readValues(slots, typed)
      const body = { question, expected_query: expected, expected_parameters: values }
      await call('POST', `${path}/evaluations`, { body })
      if (!isHeeded) return
      const report = { body: { expected_query: expected } }
      const { id } = await call<{ id: string }>('POST', `${path}/questions/${requestId}/report`, report)
      await call('POST', `${path}/counter-examples/${id}/confirm`)
    },
    {
      refresh: [['projects', project.id, 'questions']],
      say: () =>
        isHeeded
          ? 'Heeded from now on, and kept as an evaluation case.'
          : 'Kept as an evaluation case: every deployment asks it again.',
    },
  )
  const choose = (name: string | null): void => {
    setChosen(name)
    setTyped(name === told.query ? showValues(told.parameters) : {})
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        keep.mutate(undefined, { onSuccess: onClose })
      }}
    >
      <Stack gap="md">
        <Text>“{question}”</Text>
        <Select
          label="It should be answered by"
          placeholder="Choose"
          data={[
            ...here.map(({ name }) => ({ value: name, label: name })),
            { value: none, label: 'nothing: it should be refused' },
          ]}
          searchable={here.length > 8}
          value={chosen}
          onChange={choose}
          data-autofocus
        />
        {slots !== undefined && (
          <>
            <Text size="xs" c="dimmed">
              With these values. What is left empty may be anything.
            </Text>
            <SlotsForm slots={slots} values={typed} errors={{}} onChange={setTyped} />
          </>
        )}
        <FormEnd
          act={keep}
          verb="Keep it as a case"
          disabled={chosen === null || (live !== undefined && slots === undefined)}
          onClose={onClose}
        />
      </Stack>
    </form>
  )
}
