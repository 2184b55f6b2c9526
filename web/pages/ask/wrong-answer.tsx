import { Checkbox, Modal, Select, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { useAct } from '../../client/queries.ts'
import type { Place } from '../deploy/shared/place.ts'
import { deployKeys, useDeployments, useVersion } from '../deploy/shared/queries.ts'
import { missingOf, readingOf, givenValues } from '../deploy/shared/reading.ts'
import { parametersOf, valuesOf, type SlotValues } from '../query/slots/slots.ts'
import { SlotsForm } from '../query/call/slots-form.tsx'
import type { QuestionResult } from './question-result.ts'
import type { LiveDeployment, SlotsSchema } from '../deploy/shared/wire.ts'

/** The question that a follow-up follows, and how it would be asked on its own, where that can be worked out. */
export type Follows = { question: string; whole: string | null }

type Props = {
  place: Place
  opened: boolean
  onClose: () => void
  question: string
  result: QuestionResult
  follows: Follows | null
  /** The id of an answer in the log, which the router can learn from. */
  requestId: string | null
}

/** Says what the right answer is: a query with its values, or none. It becomes an evaluation case and an example. */
export function WrongAnswer({ opened, onClose, ...props }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="What would be right?">
      {opened && <RightAnswer {...props} onClose={onClose} />}
    </Modal>
  )
}

/** No query can be called so. */
const none = '(none)'

function RightAnswer({ place, question, follows, ...props }: Omit<Props, 'opened'>) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  const here = (deployments.data ?? []).filter((each) => each.environment === environment)
  // Nothing is chosen beforehand: what was answered is wrong, and a guess would be confirmed unread.
  const [chosen, setChosen] = useState<string | null>(null)
  const [whole, setWhole] = useState(follows?.whole ?? '')
  const live = here.find(({ name }) => name === chosen)
  const right = { ...props, place, question: follows === null ? question : whole.trim() }
  return (
    <Stack gap="md">
      <Text>“{question}”</Text>
      {follows !== null && (
        <Textarea
          label="The question in full"
          description={`It went on from “${follows.question}”. What is kept is asked on its own, so it must say everything.`}
          placeholder="revenue in the south since March"
          autosize
          maxLength={2000}
          value={whole}
          onChange={(event) => setWhole(event.currentTarget.value)}
        />
      )}
      <Select
        label="It should be answered by"
        placeholder="Choose"
        data={[
          ...here.map(({ name }) => ({ value: name, label: name })),
          { value: none, label: 'nothing: it should be refused' },
        ]}
        searchable={here.length > 8}
        value={chosen}
        onChange={setChosen}
        data-autofocus
      />
      {chosen === none && <Right key={none} {...right} />}
      {live !== undefined && (
        <RightQuery key={live.name} {...right} live={live} readFrom={follows === null ? question : follows.whole} />
      )}
    </Stack>
  )
}

type RightProps = Omit<Props, 'opened' | 'follows'>

/** Its values as the question gives them, to be put right. */
function RightQuery({ live, readFrom, ...props }: RightProps & { live: LiveDeployment; readFrom: string | null }) {
  const { project, environment } = props.place
  const version = useVersion({ projectId: project.id, name: live.name }, live.version)
  const isRead = live.name !== props.result.query && readFrom !== null
  const reading = useQuery({
    ...readingOf({ projectId: project.id, environment, question: readFrom ?? '', query: live.name }),
    enabled: isRead,
  })
  // A follow-up says little alone: its values are those that it was taken with.
  const read = !isRead ? props.result.parameters : reading.isError ? {} : reading.data
  return (
    <Loaded query={version}>
      {({ slots }) => read !== undefined && <Right {...props} meant={{ query: live.name, slots, read }} />}
    </Loaded>
  )
}

type Meant = { query: string; slots: SlotsSchema; read: Record<string, unknown> }

function Right({ place, question, result, requestId, meant, onClose }: RightProps & { meant?: Meant }) {
  const { project } = place
  const [typed, setTyped] = useState<SlotValues>(() => valuesOf(meant?.read))
  const [asExample, setAsExample] = useState(true)
  const path = `/v1/projects/${project.id}`
  const expected = meant?.query ?? null
  const values = meant === undefined ? null : parametersOf(meant.slots, typed)
  // The router heeds which query is right; values are checked by the case alone.
  const isHeeded = requestId !== null && expected !== result.query
  const missing = meant === undefined || !asExample ? [] : missingOf(meant.slots, values ?? {})
  const keep = useAct(
    async () => {
      const body = { question, expected_query: expected, expected_parameters: values }
      await call('POST', `${path}/evaluations`, { body })
      if (meant !== undefined && asExample) {
        const example = { questions: [question], as: 'example', query: meant.query }
        const parameters = givenValues(meant.slots, values ?? {})
        await call('POST', `${path}/questions/resolve`, { body: { ...example, parameters } })
      }
      if (!isHeeded) return
      const report = { body: { expected_query: expected } }
      const { id } = await call<{ id: string }>('POST', `${path}/questions/${requestId}/report`, report)
      await call('POST', `${path}/counter-examples/${id}/confirm`)
    },
    {
      refresh: [['projects', project.id, 'questions'], deployKeys.queries(project.id)],
      say: () =>
        [
          isHeeded
            ? 'Heeded from now on, and kept as an evaluation case.'
            : 'Kept as an evaluation case: every deployment asks it again.',
          meant !== undefined && asExample ? `An example of ${meant.query}, too, from its next deployment on.` : '',
        ]
          .join(' ')
          .trim(),
    },
  )
  return (
    <ActForm
      onSubmit={() => keep.mutate(undefined, { onSuccess: onClose })}
      act={keep}
      verb="Keep it"
      disabled={missing.length > 0 || question === ''}
      onClose={onClose}
    >
      {meant !== undefined && (
        <>
          <Text size="xs" c="dimmed">
            With these values. {asExample ? '' : 'What is left empty may be anything.'}
          </Text>
          <SlotsForm
            projectId={project.id}
            slots={meant.slots}
            values={typed}
            errors={Object.fromEntries(missing.map((slot) => [slot, 'An example needs it.']))}
            onChange={setTyped}
          />
          <Checkbox
            label={`Make it an example of ${meant.query}, too`}
            description="Questions like it are understood from its next deployment on."
            checked={asExample}
            onChange={(event) => setAsExample(event.currentTarget.checked)}
          />
        </>
      )}
    </ActForm>
  )
}
