import { Checkbox, Modal, Select, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { useAct } from '../../client/queries.ts'
import { sayCount } from '../../text/words.ts'
import { questionsKey } from './asked-questions.tsx'
import classes from '../deploy/shared/deploy.module.css'
import { evaluationsKey } from './evaluation-cases.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { deployKeys } from '../deploy/shared/queries.ts'
import { missingOf, readingOf, givenValues } from '../deploy/shared/reading.ts'
import { parametersOf, valuesOf, type SlotValues } from '../query/slots/slots.ts'
import { SlotsForm } from '../query/call/slots-form.tsx'
import type { Query, QuestionGroup } from '../deploy/shared/wire.ts'
import { useQueriesOf } from '../../client/things.ts'

/** So many of a group are looked at at a time; the others wait in the list. */
const mostShown = 5

type Props = { place: Place; group: QuestionGroup; opened: boolean; onClose: () => void }

/** Makes examples of questions that were missed: which query, and which values each of them means. */
export function TeachDialog({ opened, onClose, ...props }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Which query answers this?" size="lg">
      {opened && <Teach {...props} onClose={onClose} />}
    </Modal>
  )
}

function Teach({ place, group, onClose }: Omit<Props, 'opened'>) {
  const queries = useQueriesOf(place.project.id)
  // Nothing is chosen beforehand: what came nearest was not near enough, and may be no answer at all.
  const [chosen, setChosen] = useState<string | null>(null)
  const query = queries.data?.find(({ name }) => name === chosen)
  return (
    <Stack gap="md">
      <Select
        label="Query"
        description={group.nearest === null ? 'None came near it.' : `The nearest was ${group.nearest}.`}
        placeholder="Choose"
        data={queries.data?.map(({ name, description }) => ({ value: name, label: name, description })) ?? []}
        searchable
        value={chosen}
        onChange={setChosen}
        data-autofocus
      />
      {query !== undefined && (
        <ChosenQuery key={query.name} place={place} group={group} query={query} onClose={onClose} />
      )}
    </Stack>
  )
}

type ChosenProps = Omit<Props, 'opened'> & { query: Query }

function ChosenQuery({ place: { project, environment }, group, query, onClose }: ChosenProps) {
  const texts = group.questions.slice(0, mostShown).map(({ text }) => text)
  const readings = useQueries({
    queries: texts.map((question) => readingOf({ projectId: project.id, environment, question, query: query.name })),
  })
  const [typed, setTyped] = useState<Record<string, SlotValues>>({})
  const [left, setLeft] = useState<string[]>([])
  const isLive = query.deployments.some((each) => each.environment === environment)
  const [asCase, setAsCase] = useState(isLive)
  const entries = texts.map((question, at) => {
    const shown = typed[question] ?? valuesOf(readings[at]?.data)
    const values = parametersOf(query.slots, shown)
    return {
      question,
      shown,
      values,
      missing: missingOf(query.slots, values),
      isRead: readings[at]?.isPending === false,
    }
  })
  const taken = entries.filter(({ question }) => !left.includes(question))
  const teach = useAct(
    async () => {
      const path = `/v1/projects/${project.id}/questions/resolve`
      for (const { question, values } of taken) {
        const meant = { questions: [question], query: query.name }
        if (asCase) await call('POST', path, { body: { ...meant, as: 'evaluation', parameters: values } })
        await call('POST', path, { body: { ...meant, as: 'example', parameters: givenValues(query.slots, values) } })
      }
    },
    {
      refresh: [questionsKey(project.id), deployKeys.queries(project.id), evaluationsKey(project.id)],
      say: () =>
        `${sayCount(taken.length, 'example')} of ${query.name}’s draft now. Deploy it to have ${taken.length === 1 ? 'it' : 'them'} answered.`,
    },
  )
  return (
    <ActForm
      onSubmit={() => teach.mutate(undefined, { onSuccess: onClose })}
      act={teach}
      verb={taken.length === 1 ? 'Make it an example' : `Make ${taken.length} examples`}
      disabled={taken.length === 0 || taken.some(({ missing, isRead }) => missing.length > 0 || !isRead)}
      onClose={onClose}
    >
      {entries.map((entry) => (
        <Taught
          key={entry.question}
          {...{ project, query, entry }}
          isTaken={taken.includes(entry)}
          onTake={(isTaken) =>
            setLeft(isTaken ? left.filter((each) => each !== entry.question) : [...left, entry.question])
          }
          onChange={(values) => setTyped({ ...typed, [entry.question]: values })}
        />
      ))}
      {group.questions.length > mostShown && (
        <Text size="xs" c="dimmed">
          {sayCount(group.questions.length - mostShown, 'more wording stays', 'more wordings stay')} in the list.
        </Text>
      )}
      {isLive && (
        <Checkbox
          label="Keep as an evaluation case, too: every deployment asks it again"
          checked={asCase}
          onChange={(event) => setAsCase(event.currentTarget.checked)}
        />
      )}
    </ActForm>
  )
}

type TaughtProps = {
  project: Place['project']
  query: Query
  entry: { question: string; shown: SlotValues; missing: string[]; isRead: boolean }
  isTaken: boolean
  onTake: (isTaken: boolean) => void
  onChange: (values: SlotValues) => void
}

/** One wording, and the values that it means. */
function Taught({ project, query, entry, isTaken, onTake, onChange }: TaughtProps) {
  const { question, shown, missing, isRead } = entry
  return (
    <div className={classes['taught']}>
      <Checkbox label={`“${question}”`} checked={isTaken} onChange={(event) => onTake(event.currentTarget.checked)} />
      {isTaken && isRead && (
        <SlotsForm
          projectId={project.id}
          slots={query.slots}
          values={shown}
          errors={Object.fromEntries(
            missing.map((slot) => [slot, 'The question does not say it. Which one is meant?']),
          )}
          onChange={onChange}
        />
      )}
    </div>
  )
}
